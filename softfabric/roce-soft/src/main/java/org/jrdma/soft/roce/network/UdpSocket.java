package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.SocketOption;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * A UDP socket bound to the RoCE UDP port of a local address or of a multicast group. The socket is
 * nonblocking and not connected. Fragmentation is disabled, so that the kernel sends 0 in the IPv4
 * identification field, which the ICRC of each packet covers.
 */
final class UdpSocket {

    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_NONBLOCK = 0x800;
    private static final int SOCK_CLOEXEC = 0x80000;

    private static final int SOL_SOCKET = 1;
    private static final int SO_REUSEADDR = 2;
    private static final int SO_SNDBUF = 7;
    private static final int SO_RCVBUF = 8;
    private static final int SO_SNDBUFFORCE = 32;
    private static final int SO_RCVBUFFORCE = 33;

    private static final int IPPROTO_IP = 0;
    private static final int IP_MTU_DISCOVER = 10;
    private static final int IP_MULTICAST_IF = 32;
    private static final int IP_MULTICAST_TTL = 33;
    private static final int IP_ADD_MEMBERSHIP = 35;
    private static final int IP_MULTICAST_ALL = 49;

    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_MULTICAST_IF = 17;
    private static final int IPV6_MULTICAST_HOPS = 18;
    private static final int IPV6_JOIN_GROUP = 20;
    private static final int IPV6_MTU_DISCOVER = 23;
    private static final int IPV6_V6ONLY = 26;
    private static final int IPV6_MULTICAST_ALL = 29;
    private static final int IPV6_FLOWINFO_SEND = 33;

    private static final int IPPROTO_UDP = 17;
    private static final int UDP_NO_CHECK6_RX = 102;
    private static final int UDP_GRO = 104;

    private static final int NEVER_FRAGMENT = 2;
    private static final int HOPS = 64;

    private final SystemCalls calls;
    private final RoceGid address;
    private final int descriptor;

    private UdpSocket(SystemCalls calls, RoceGid address, int descriptor) {
        this.calls = calls;
        this.address = address;
        this.descriptor = descriptor;
    }

    /**
     * Opens a socket that sends from a local address and receives the packets sent to it.
     *
     * @param buffer the requested size of the socket buffers in bytes
     */
    static UdpSocket at(
            RoceGid address, LocalInterface localInterface, int buffer, SystemCalls calls)
            throws FabricException {
        var socket = open(address, calls);
        try {
            if (address.isIpv4()) {
                socket.require("IP_MTU_DISCOVER", IPPROTO_IP, IP_MTU_DISCOVER, NEVER_FRAGMENT);
                socket.set(IPPROTO_IP, IP_MULTICAST_TTL, HOPS);
                socket.set(IPPROTO_IP, IP_MULTICAST_IF, 0, 0, localInterface.index());
            } else {
                socket.require(
                        "IPV6_MTU_DISCOVER", IPPROTO_IPV6, IPV6_MTU_DISCOVER, NEVER_FRAGMENT);
                socket.set(IPPROTO_IPV6, IPV6_MULTICAST_HOPS, HOPS);
                // Permits a flow label in the destination address of each packet.
                socket.set(IPPROTO_IPV6, IPV6_FLOWINFO_SEND, 1);
                socket.set(IPPROTO_IPV6, IPV6_MULTICAST_IF, localInterface.index());
            }
            socket.resize(SO_SNDBUFFORCE, SO_SNDBUF, buffer);
            socket.resize(SO_RCVBUFFORCE, SO_RCVBUF, buffer);
            if (localInterface.isLoopback()) {
                // The kernel may pass several packets to the program as one message (UDP GRO), if
                // it supports that.
                socket.set(IPPROTO_UDP, UDP_GRO, 1);
            }
            socket.bind(localInterface);
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Opens a socket that receives packets sent to a multicast group on a network interface.
     *
     * @param buffer the requested size of the receive buffer in bytes
     */
    static UdpSocket ofGroup(
            RoceGid group, LocalInterface localInterface, int buffer, SystemCalls calls)
            throws FabricException {
        var socket = open(group, calls);
        try {
            // Several processes of this machine may be members of the group.
            socket.require("SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, 1);
            socket.resize(SO_RCVBUFFORCE, SO_RCVBUF, buffer);
            socket.bind(localInterface);
            socket.join(localInterface);
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    private static UdpSocket open(RoceGid address, SystemCalls calls) throws FabricException {
        var family = address.isIpv4() ? SocketAddress.IPV4_FAMILY : SocketAddress.IPV6_FAMILY;
        var descriptor = calls.socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (descriptor < 0) {
            throw failed("Cannot create a UDP socket for %s", address, calls.errno());
        }
        try {
            var socket = new UdpSocket(calls, address, descriptor);
            if (!address.isIpv4()) {
                // The socket must not receive packets from IPv4-mapped addresses, which belong to
                // IPv4 sockets.
                socket.set(IPPROTO_IPV6, IPV6_V6ONLY, 1);
                // RDMA adapters send no UDP checksum over IPv6, so the kernel must accept packets
                // without one.
                socket.set(IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
            }
            return socket;
        } catch (Throwable e) {
            calls.close(descriptor);
            throw e;
        }
    }

    private void bind(LocalInterface localInterface) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocate(SocketAddress.IPV6_BYTES, 8);
            var length =
                    SocketAddress.write(
                            name, 0, address.high(), address.low(), 0, localInterface.index());
            if (calls.bind(descriptor, name.asSlice(0, length)) < 0) {
                throw bindFailed(calls.errno());
            }
        }
    }

    private FabricException bindFailed(int errno) {
        var attempt =
                "Cannot bind UDP port %d of %s: %s."
                        .formatted(PacketBuffer.UDP_PORT, address, Errno.describe(errno));
        var advice =
                errno == Errno.EADDRNOTAVAIL ? " This network namespace has no such address." : "";
        return new FabricException(attempt + advice, errno, null);
    }

    private void join(LocalInterface localInterface) throws FabricException {
        int result;
        if (address.isIpv4()) {
            set(IPPROTO_IP, IP_MULTICAST_ALL, 0);
            result =
                    set(
                            IPPROTO_IP,
                            IP_ADD_MEMBERSHIP,
                            BigEndian.swap((int) address.low()),
                            0,
                            localInterface.index());
        } else {
            set(IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
            result =
                    set(
                            IPPROTO_IPV6,
                            IPV6_JOIN_GROUP,
                            BigEndian.swap((int) (address.high() >>> 32)),
                            BigEndian.swap((int) address.high()),
                            BigEndian.swap((int) (address.low() >>> 32)),
                            BigEndian.swap((int) address.low()),
                            localInterface.index());
        }
        if (result < 0) {
            throw failed(
                    "Cannot join the multicast group %s on " + localInterface.name(),
                    address,
                    calls.errno());
        }
    }

    private static FabricException failed(String attempt, RoceGid address, int errno) {
        return new FabricException(
                attempt.formatted(address) + ": " + Errno.describe(errno), errno, null);
    }

    private void require(String name, int level, int option, int value) throws FabricException {
        if (set(level, option, value) < 0) {
            throw failed("Cannot set " + name + " on the socket of %s", address, calls.errno());
        }
    }

    private int set(int level, int option, int... words) {
        try (var arena = Arena.ofConfined()) {
            return calls.setOption(
                    descriptor, level, option, arena.allocateFrom(ValueLayout.JAVA_INT, words));
        }
    }

    /**
     * Sets the size of a socket buffer. The system's limit does not apply if the process is
     * privileged.
     */
    private void resize(int force, int option, int bytes) {
        if (set(SOL_SOCKET, force, bytes) < 0) {
            set(SOL_SOCKET, option, bytes);
        }
    }

    /**
     * Returns the size of the receive buffer in bytes, which includes memory that the kernel uses
     * for its own data, or 0 if the size is unknown.
     */
    int receiveBuffer() {
        return Math.max(0, SocketOption.read(descriptor, SO_RCVBUF));
    }

    RoceGid address() {
        return address;
    }

    int descriptor() {
        return descriptor;
    }

    /**
     * Receives up to {@code count} datagrams. Returns their number, or -1 if there is none or an
     * error occurred.
     */
    int receive(MemorySegment messages, int count) {
        return calls.receive(descriptor, messages, count);
    }

    /**
     * Sends up to {@code count} datagrams. Returns the number of datagrams sent, or -1 if the first
     * failed; {@link SystemCalls#errno()} then returns the error code.
     */
    int send(MemorySegment messages, int count) {
        return calls.send(descriptor, messages, count);
    }

    void close() {
        calls.close(descriptor);
    }
}
