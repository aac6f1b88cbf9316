package org.jrdma.sockets.channel;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jrdma.abi.rdma.sockaddr_storage;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketAddressBuffer;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jspecify.annotations.Nullable;

/**
 * The system calls on a datagram socket. A method that returns int returns a negative errno on
 * failure.
 *
 * @param descriptor the socket
 * @param family the address family
 */
public record DatagramCalls(int descriptor, InternetFamily family) {

    private static final int AF_UNSPEC = 0;
    private static final int IPPROTO_IP = 0;
    private static final int IPPROTO_IPV6 = 41;
    private static final int IP_MULTICAST_ALL = 49;
    private static final int IPV6_MULTICAST_ALL = 29;
    private static final int IPV6_MULTICAST_HOPS = 18;

    /**
     * Opens a socket that receives only from the multicast groups that it has joined, and sends
     * multicast datagrams with a hop limit of 1, as the JDK's channels do.
     */
    static DatagramCalls open(InternetFamily family) throws IOException {
        var domain = family.isIpv6() ? SocketCalls.AF_INET6 : SocketCalls.AF_INET;
        var calls =
                new DatagramCalls(
                        SocketFailure.check(SocketCalls.socket(domain, SocketCalls.SOCK_DGRAM, 0)),
                        family);
        calls.set(IPPROTO_IP, IP_MULTICAST_ALL, 0);
        if (family.isIpv6()) {
            calls.set(IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
            calls.set(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 1);
        }
        return calls;
    }

    /**
     * Sets an option. A failure is ignored, because older kernels do not support all of the
     * options.
     */
    private void set(int level, int option, int number) {
        try (var scratch = Scratch.take()) {
            var value = scratch.value(Integer.BYTES);
            value.set(JAVA_INT, 0, number);
            var _ = SocketCalls.setOption(descriptor, level, option, value);
        }
    }

    void bind(InetSocketAddress address) throws IOException {
        family.bind(descriptor, address);
    }

    InetSocketAddress localAddress() throws IOException {
        return (InetSocketAddress) family.localAddress(descriptor);
    }

    void connect(InetSocketAddress address) throws IOException {
        SocketFailure.check(family.connect(descriptor, address));
        try (var scratch = Scratch.take()) {
            var bytes = scratch.bytes();
            while (SocketCalls.receive(descriptor, bytes, bytes.byteSize()) >= 0) {
                // Datagrams that arrived before the socket was connected are discarded.
            }
        }
    }

    void disconnect() throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            name.fill((byte) 0);
            name.set(JAVA_SHORT, 0, (short) AF_UNSPEC);
            SocketFailure.check(
                    SocketCalls.connect(descriptor, name, (int) sockaddr_storage.sizeof()));
        }
    }

    /**
     * Receives a datagram and the address of its sender. Bytes that exceed the remaining space of
     * {@code target} are lost.
     */
    int receive(ByteBuffer target, Sender sender) {
        try (var scratch = Scratch.take()) {
            var memory = target.isDirect() ? MemorySegment.ofBuffer(target) : scratch.bytes();
            var length = Math.min(target.remaining(), memory.byteSize());
            var count = SocketCalls.receiveFrom(descriptor, memory, length, scratch.name());
            if (count >= 0) {
                sender.read(family, scratch.name());
                if (!target.isDirect()) {
                    MemorySegment.copy(memory, 0, MemorySegment.ofBuffer(target), 0, count);
                }
                target.position(target.position() + count);
            }
            return count;
        }
    }

    /** The address of the sender of the last datagram that was received. */
    static final class Sender {
        private @Nullable InetSocketAddress address;

        private void read(InternetFamily family, SocketAddressBuffer name) {
            address = family.read(name);
        }

        @Nullable InetSocketAddress address() {
            return address;
        }
    }

    /** Sends the remaining bytes of {@code source} as one datagram. */
    int send(ByteBuffer source, InetSocketAddress target) {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            var length = family.write(target, name);
            var bytes = nativeBytes(source, scratch);
            return sent(
                    source, SocketCalls.sendTo(descriptor, bytes, bytes.byteSize(), name, length));
        }
    }

    /** Sends the remaining bytes of {@code source} as one datagram to the connected peer. */
    int write(ByteBuffer source) {
        try (var scratch = Scratch.take()) {
            var bytes = nativeBytes(source, scratch);
            return sent(source, SocketCalls.send(descriptor, bytes, bytes.byteSize(), 0));
        }
    }

    /**
     * Returns the remaining bytes of {@code source} in native memory. Bytes on the heap are copied.
     * Only {@link Scratch#BYTES} fit, but that is far more than the maximum size of a datagram.
     */
    private static MemorySegment nativeBytes(ByteBuffer source, Scratch scratch) {
        var bytes = MemorySegment.ofBuffer(source);
        if (source.isDirect()) {
            return bytes;
        }
        var length = Math.min(bytes.byteSize(), Scratch.BYTES);
        return scratch.bytes().asSlice(0, length).copyFrom(bytes.asSlice(0, length));
    }

    /**
     * Advances the position of a buffer to its limit if the datagram was sent. Returns {@code
     * count}.
     */
    private static int sent(ByteBuffer source, int count) {
        if (count >= 0) {
            source.position(source.limit());
        }
        return count;
    }
}
