package org.jrdma.sockets.channel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SmcFallbackQuery;
import org.jrdma.sockets.internal.SocketAddressConverter;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jrdma.sockets.internal.UnixFamily;
import org.jrdma.sockets.policy.TransportList;
import org.jrdma.sockets.policy.TransportList.Bypass;
import org.jrdma.sockets.policy.TransportList.UnusedTransport;
import org.jrdma.sockets.report.StreamReporter;
import org.jrdma.sockets.transport.KernelTransport;
import org.jrdma.sockets.transport.StreamTransport;
import org.jspecify.annotations.Nullable;

/**
 * The transport that is selected for a stream, its address family, and the system calls that depend
 * on them.
 *
 * @param transport the transport of the socket
 * @param unused the transports that are preferred to {@code transport} but not used, with the
 *     reasons
 * @param addresses the address family
 * @param options the socket options that the stream supports
 * @param bypasses the transports without a kernel socket to try, in order, before the socket is
 *     connected
 */
public record SelectedTransport(
        StreamTransport transport,
        List<UnusedTransport> unused,
        SocketAddressConverter addresses,
        SupportedChannelOptions options,
        List<Bypass> bypasses) {

    private static final int SOL_SOCKET = 1;
    private static final int SO_ERROR = 4;
    private static final int SO_DOMAIN = 39;

    public static SelectedTransport internet(TransportList.OpenedSocket opened) {
        return new SelectedTransport(
                opened.transport(),
                opened.unused(),
                opened.family(),
                ChannelOption.ofStream(opened.family()),
                opened.bypasses());
    }

    public static SelectedTransport unix() {
        return new SelectedTransport(
                KernelTransport.UNIX,
                List.of(),
                UnixFamily.INSTANCE,
                ChannelOption.ofUnixStream(),
                List.of());
    }

    /**
     * Returns the transport without a kernel socket to try next; null if only the kernel socket is
     * left.
     */
    @Nullable Bypass bypass() {
        return bypasses.isEmpty() ? null : bypasses.getFirst();
    }

    /** Returns the transport of the stream after it was connected over {@code bypass}. */
    SelectedTransport overBypass(Bypass bypass) {
        return new SelectedTransport(
                bypass.transport(), bypass.unused(), addresses, options, List.of());
    }

    /**
     * Returns a copy without the first of its {@code bypasses}, which has failed.
     *
     * @param reason the reason of the failure
     */
    SelectedTransport withoutBypass(String reason) {
        var failed = bypasses.getFirst();
        var index = failed.unused().size();
        var added = new UnusedTransport(failed.transport(), reason);
        return new SelectedTransport(
                transport,
                with(unused, index, added),
                addresses,
                options,
                bypasses.stream()
                        .skip(1)
                        .map(next ->
                                new Bypass(
                                        next.transport(),
                                        with(next.unused(), index, added),
                                        next.isLast()))
                        .toList());
    }

    private static List<UnusedTransport> with(
            List<UnusedTransport> unused, int index, UnusedTransport added) {
        var all = new ArrayList<>(unused);
        all.add(index, added);
        return List.copyOf(all);
    }

    /** Returns the transports that were preferred, each with the reason why it is not used. */
    List<String> reasons() {
        return unused.stream().map(UnusedTransport::toString).toList();
    }

    /** Returns a copy with other unused transports and without {@code bypasses}. */
    SelectedTransport withUnused(List<UnusedTransport> unused) {
        return new SelectedTransport(transport, unused, addresses, options, List.of());
    }

    /** Binds the socket of a client. If {@code address} is null, the system chooses the address. */
    SocketAddress bindClient(int descriptor, @Nullable SocketAddress address) throws IOException {
        return switch (addresses) {
            case InternetFamily internet ->
                    bind(descriptor, address == null ? internet.wildcard() : address);
            case UnixFamily unix -> {
                var checked = address == null ? unix.unnamed() : unix.check(address);
                yield checked.equals(unix.unnamed()) ? checked : bind(descriptor, checked);
            }
        };
    }

    /** Binds a socket, and returns the address to which it is bound. */
    SocketAddress bind(int descriptor, SocketAddress address) throws IOException {
        addresses.bind(descriptor, addresses.check(address));
        return localAddress(descriptor);
    }

    SocketAddress localAddress(int descriptor) throws IOException {
        return addresses.localAddress(descriptor);
    }

    /**
     * Returns the local address and port from which the kernel would reach a peer.
     *
     * @param descriptor a socket. If it is not bound, this method binds it to that address and a
     *     free port.
     */
    InetSocketAddress addressTowards(int descriptor, InetSocketAddress target) throws IOException {
        var bound = (InetSocketAddress) localAddress(descriptor);
        if (bound.getPort() != 0 && !bound.getAddress().isAnyLocalAddress()) {
            return bound;
        }
        var source = sourceTowards(target);
        if (bound.getPort() == 0) {
            bound = (InetSocketAddress) bind(descriptor, new InetSocketAddress(source, 0));
        }
        return new InetSocketAddress(source, bound.getPort());
    }

    /**
     * Returns the source address that the kernel would use for packets to {@code target}. To
     * determine it, connects a datagram socket, which sends nothing, and reads the local address of
     * that socket.
     */
    InetAddress sourceTowards(InetSocketAddress target) throws IOException {
        var family =
                ((InternetFamily) addresses).isIpv6() ? SocketCalls.AF_INET6 : SocketCalls.AF_INET;
        var socket = SocketFailure.check(SocketCalls.socket(family, SocketCalls.SOCK_DGRAM, 0));
        try {
            SocketFailure.check(connect(socket, target));
            return ((InetSocketAddress) localAddress(socket)).getAddress();
        } finally {
            SocketCalls.close(socket);
        }
    }

    /** Starts to connect a socket; returns the result of connect(2), or the negative errno. */
    int connect(int descriptor, SocketAddress address) throws IOException {
        return addresses.connect(descriptor, address);
    }

    /**
     * Returns the state of connecting a socket: 1 if the connection is established, {@link
     * SocketCalls#AGAIN} if the attempt is in progress, or another negative errno.
     */
    int connected(int descriptor) throws IOException {
        if (!SocketCalls.isReady(descriptor, SocketCalls.POLLOUT)) {
            return SocketCalls.AGAIN;
        }
        var errno = number(descriptor, SO_ERROR);
        return errno == 0 ? 1 : -errno;
    }

    /**
     * Returns the transport that the kernel reports for a connected socket. A preloaded library may
     * have replaced the socket, and SMC may have fallen back to TCP.
     */
    StreamReporter.Path kernelPath(int descriptor, SmcFallbackQuery smc) throws IOException {
        var name = transportOf(descriptor);
        var reasons = new ArrayList<>(reasons());
        if (transport.equals(KernelTransport.SMC)) {
            var why = smc.whyOverTcp(descriptor);
            if (why.isPresent()) {
                // Set explicitly, because only newer kernels report the TCP family for such a
                // descriptor.
                name = KernelTransport.TCP.name();
                reasons.add("smc: fell back to TCP: " + why.get());
            }
        }
        return new StreamReporter.Path(name, reasons);
    }

    /** Returns the name of the transport whose address family the kernel reports for a socket. */
    private String transportOf(int descriptor) throws IOException {
        var family = number(descriptor, SO_DOMAIN);
        return Stream.of(
                        transport,
                        KernelTransport.SUPERSOCKETS,
                        KernelTransport.SMC,
                        KernelTransport.TCP)
                .filter(each -> each instanceof KernelTransport kernel && kernel.isFamily(family))
                .findFirst()
                .map(StreamTransport::name)
                .orElse("address family " + family);
    }

    private static int number(int descriptor, int option) throws IOException {
        try (var scratch = Scratch.take()) {
            var value = scratch.value(Integer.BYTES);
            SocketFailure.check(
                    SocketCalls.getOption(
                            descriptor,
                            SOL_SOCKET,
                            option,
                            value,
                            scratch.valueLength(Integer.BYTES)));
            return value.get(JAVA_INT, 0);
        }
    }

    /** Sends one byte of urgent data. Returns 1 or a negative errno. */
    static int sendOutOfBand(int descriptor, int value) {
        try (var scratch = Scratch.take()) {
            scratch.bytes().set(JAVA_BYTE, 0, (byte) value);
            return SocketCalls.send(descriptor, scratch.bytes(), 1, SocketCalls.MSG_OOB);
        }
    }
}
