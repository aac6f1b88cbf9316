package org.jrdma.sockets.internal;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.ByteOrder.BIG_ENDIAN;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jrdma.abi.rdma.sockaddr;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.abi.rdma.sockaddr_in6;

/**
 * An internet address family: IPv4, or IPv6. An IPv6 socket can also reach IPv4 peers, by
 * IPv4-mapped addresses. This class converts IPv4-mapped addresses, so that programs see only IPv4
 * addresses.
 */
public final class InternetFamily extends SocketAddressConverter {

    public static final InternetFamily IPV4 = new InternetFamily(false);
    public static final InternetFamily IPV6 = new InternetFamily(true);

    private static final ValueLayout.OfShort PORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(BIG_ENDIAN);
    private static final int MAPPED_PREFIX_BYTES = 12;

    private final boolean ipv6;

    private InternetFamily(boolean ipv6) {
        this.ipv6 = ipv6;
    }

    /**
     * Returns the default family of a channel: IPv6 if this machine supports IPv6, otherwise IPv4.
     */
    public static InternetFamily standard() {
        return Standard.FAMILY;
    }

    /** Determines the default family once, by the same rules as the JDK. */
    private static final class Standard {
        static final InternetFamily FAMILY = hasIpv6() ? IPV6 : IPV4;

        private static boolean hasIpv6() {
            if (Boolean.getBoolean("java.net.preferIPv4Stack")) {
                return false;
            }
            var descriptor = SocketCalls.socket(SocketCalls.AF_INET6, SocketCalls.SOCK_STREAM, 0);
            if (descriptor < 0) {
                return false;
            }
            SocketCalls.close(descriptor);
            try {
                return !Files.readString(Path.of("/proc/net/if_inet6")).isEmpty();
            } catch (IOException _) {
                return false;
            }
        }
    }

    public static InternetFamily of(ProtocolFamily family) {
        if (family == StandardProtocolFamily.INET) {
            return IPV4;
        }
        if (family == StandardProtocolFamily.INET6 && standard().ipv6) {
            return IPV6;
        }
        throw new UnsupportedOperationException("Protocol family not supported");
    }

    public boolean isIpv6() {
        return ipv6;
    }

    public InetSocketAddress wildcard() {
        return new InetSocketAddress(address(new byte[ipv6 ? 16 : 4], 0), 0);
    }

    @Override
    public InetSocketAddress check(SocketAddress address) {
        if (!(address instanceof InetSocketAddress internet)) {
            throw address == null
                    ? new NullPointerException()
                    : new UnsupportedAddressTypeException();
        }
        if (internet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        if (!ipv6 && !(internet.getAddress() instanceof Inet4Address)) {
            throw new UnsupportedAddressTypeException();
        }
        return internet;
    }

    /** Replaces the wildcard address by the loopback address. */
    @Override
    public InetSocketAddress reach(SocketAddress address) {
        var internet = (InetSocketAddress) address;
        if (!internet.getAddress().isAnyLocalAddress()) {
            return internet;
        }
        var loopback = new byte[] {127, 0, 0, 1};
        if (internet.getAddress() instanceof Inet6Address) {
            loopback = new byte[16];
            loopback[15] = 1;
        }
        return new InetSocketAddress(address(loopback, 0), internet.getPort());
    }

    @Override
    public int write(SocketAddress address, MemorySegment name) {
        var internet = (InetSocketAddress) address;
        var ip = internet.getAddress();
        name.fill((byte) 0);
        if (!ipv6) {
            sockaddr_in.sin_family(name, (short) SocketCalls.AF_INET);
            name.set(PORT, sockaddr_in.sin_port$offset(), (short) internet.getPort());
            copy(ip, name, sockaddr_in.sin_addr$offset());
            return (int) sockaddr_in.sizeof();
        }
        sockaddr_in6.sin6_family(name, (short) SocketCalls.AF_INET6);
        name.set(PORT, sockaddr_in6.sin6_port$offset(), (short) internet.getPort());
        var offset = sockaddr_in6.sin6_addr$offset();
        if (ip instanceof Inet6Address ip6) {
            copy(ip, name, offset);
            sockaddr_in6.sin6_scope_id(name, ip6.getScopeId());
        } else if (!ip.isAnyLocalAddress()) { // An IPv4-mapped wildcard address would exclude IPv6.
            name.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset + 10, (short) 0xffff);
            copy(ip, name, offset + MAPPED_PREFIX_BYTES);
        }
        return (int) sockaddr_in6.sizeof();
    }

    private static void copy(InetAddress ip, MemorySegment name, long offset) {
        var bytes = ip.getAddress();
        MemorySegment.copy(bytes, 0, name, JAVA_BYTE, offset, bytes.length);
    }

    @Override
    public InetSocketAddress read(SocketAddressBuffer from) {
        var name = from.memory();
        if (sockaddr.sa_family(name) == SocketCalls.AF_INET6) {
            var bytes = name.asSlice(sockaddr_in6.sin6_addr$offset(), 16).toArray(JAVA_BYTE);
            return new InetSocketAddress(
                    address(bytes, sockaddr_in6.sin6_scope_id(name)),
                    name.get(PORT, sockaddr_in6.sin6_port$offset()) & 0xffff);
        }
        var bytes = name.asSlice(sockaddr_in.sin_addr$offset(), 4).toArray(JAVA_BYTE);
        return new InetSocketAddress(
                address(bytes, 0), name.get(PORT, sockaddr_in.sin_port$offset()) & 0xffff);
    }

    /**
     * Returns the address with the given bytes. {@link InetAddress#getByAddress} converts an
     * IPv4-mapped address to an IPv4 address.
     */
    private static InetAddress address(byte[] bytes, int scope) {
        try {
            return scope == 0
                    ? InetAddress.getByAddress(bytes)
                    : Inet6Address.getByAddress(null, bytes, scope);
        } catch (UnknownHostException e) {
            throw new AssertionError("Invalid address of %d bytes".formatted(bytes.length), e);
        }
    }
}
