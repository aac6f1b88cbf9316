package org.jrdma.sockets.channel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.List;
import jdk.net.ExtendedSocketOptions;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jspecify.annotations.Nullable;

/**
 * A socket option of Java, and the options of {@code setsockopt} that implement it.
 *
 * @param name the option in Java
 * @param forms the levels and numbers of the options of {@code setsockopt}. All of them are set;
 *     the first one is read.
 * @param value the encoding of the value for {@code setsockopt}
 */
public record ChannelOption<T>(SocketOption<T> name, List<COption> forms, Value<T> value) {

    /** SO_OOBINLINE, for which the JDK has no constant. The adaptors use it. */
    public static final SocketOption<Boolean> URGENT_INLINE = new AdaptorOption("SO_OOBINLINE");

    private static final int SOL_SOCKET = 1;
    private static final int SO_REUSEADDR = 2;
    private static final int SO_BROADCAST = 6;
    private static final int SO_SNDBUF = 7;
    private static final int SO_RCVBUF = 8;
    private static final int SO_KEEPALIVE = 9;
    private static final int SO_OOBINLINE = 10;
    private static final int SO_LINGER = 13;
    private static final int SO_REUSEPORT = 15;
    private static final int SO_INCOMING_NAPI_ID = 56;

    private static final int IPPROTO_IP = 0;
    private static final int IP_TOS = 1;
    private static final int IP_MTU_DISCOVER = 10;
    private static final int IP_MULTICAST_IF = 32;
    private static final int IP_MULTICAST_TTL = 33;
    private static final int IP_MULTICAST_LOOP = 34;

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_NODELAY = 1;
    private static final int TCP_KEEPIDLE = 4;
    private static final int TCP_KEEPINTVL = 5;
    private static final int TCP_KEEPCNT = 6;
    private static final int TCP_QUICKACK = 12;

    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_MULTICAST_IF = 17;
    private static final int IPV6_MULTICAST_HOPS = 18;
    private static final int IPV6_MULTICAST_LOOP = 19;
    private static final int IPV6_MTU_DISCOVER = 23;
    private static final int IPV6_TCLASS = 67;

    static final ChannelOption<Integer> SEND_BUFFER =
            at(StandardSocketOptions.SO_SNDBUF, SOL_SOCKET, SO_SNDBUF, new BufferSize());
    static final ChannelOption<Integer> RECEIVE_BUFFER =
            at(StandardSocketOptions.SO_RCVBUF, SOL_SOCKET, SO_RCVBUF, new BufferSize());
    static final ChannelOption<Boolean> KEEP_ALIVE =
            at(StandardSocketOptions.SO_KEEPALIVE, SOL_SOCKET, SO_KEEPALIVE, new Flag());
    static final ChannelOption<Boolean> REUSE_ADDRESS =
            at(StandardSocketOptions.SO_REUSEADDR, SOL_SOCKET, SO_REUSEADDR, new Flag());
    static final ChannelOption<Boolean> REUSE_PORT =
            at(StandardSocketOptions.SO_REUSEPORT, SOL_SOCKET, SO_REUSEPORT, new Flag());
    static final ChannelOption<Boolean> BROADCAST =
            at(StandardSocketOptions.SO_BROADCAST, SOL_SOCKET, SO_BROADCAST, new Flag());
    static final ChannelOption<Integer> LINGER =
            at(StandardSocketOptions.SO_LINGER, SOL_SOCKET, SO_LINGER, new Linger());
    static final ChannelOption<Boolean> OUT_OF_BAND_INLINE =
            at(URGENT_INLINE, SOL_SOCKET, SO_OOBINLINE, new Flag());
    static final ChannelOption<Integer> INCOMING_NAPI_ID =
            at(
                    ExtendedSocketOptions.SO_INCOMING_NAPI_ID,
                    SOL_SOCKET,
                    SO_INCOMING_NAPI_ID,
                    new ReadOnly());
    static final ChannelOption<Boolean> NO_DELAY =
            at(StandardSocketOptions.TCP_NODELAY, IPPROTO_TCP, TCP_NODELAY, new Flag());
    static final ChannelOption<Boolean> QUICK_ACK =
            at(ExtendedSocketOptions.TCP_QUICKACK, IPPROTO_TCP, TCP_QUICKACK, new Flag());
    static final ChannelOption<Integer> KEEP_IDLE =
            at(ExtendedSocketOptions.TCP_KEEPIDLE, IPPROTO_TCP, TCP_KEEPIDLE, new IntValue());
    static final ChannelOption<Integer> KEEP_INTERVAL =
            at(ExtendedSocketOptions.TCP_KEEPINTERVAL, IPPROTO_TCP, TCP_KEEPINTVL, new IntValue());
    static final ChannelOption<Integer> KEEP_COUNT =
            at(ExtendedSocketOptions.TCP_KEEPCOUNT, IPPROTO_TCP, TCP_KEEPCNT, new IntValue());

    private static final List<ChannelOption<?>> STREAM =
            List.of(
                    SEND_BUFFER,
                    RECEIVE_BUFFER,
                    KEEP_ALIVE,
                    REUSE_ADDRESS,
                    REUSE_PORT,
                    LINGER,
                    NO_DELAY,
                    OUT_OF_BAND_INLINE,
                    QUICK_ACK,
                    KEEP_IDLE,
                    KEEP_INTERVAL,
                    KEEP_COUNT,
                    INCOMING_NAPI_ID);

    static SupportedChannelOptions ofStream(InternetFamily family) {
        return SupportedChannelOptions.of(STREAM).and(trafficClass(family));
    }

    static SupportedChannelOptions ofUnixStream() {
        return SupportedChannelOptions.of(List.of(SEND_BUFFER, RECEIVE_BUFFER, LINGER));
    }

    static SupportedChannelOptions ofUnixListener() {
        return SupportedChannelOptions.of(List.of(RECEIVE_BUFFER));
    }

    static SupportedChannelOptions ofListener() {
        return SupportedChannelOptions.of(
                List.of(
                        RECEIVE_BUFFER,
                        REUSE_ADDRESS,
                        REUSE_PORT,
                        QUICK_ACK,
                        KEEP_IDLE,
                        KEEP_INTERVAL,
                        KEEP_COUNT,
                        INCOMING_NAPI_ID));
    }

    static SupportedChannelOptions ofDatagrams(InternetFamily family) {
        return SupportedChannelOptions.of(
                        List.of(
                                SEND_BUFFER,
                                RECEIVE_BUFFER,
                                REUSE_ADDRESS,
                                REUSE_PORT,
                                BROADCAST,
                                INCOMING_NAPI_ID))
                .and(trafficClass(family))
                .and(multicastInterface(family))
                .and(multicastHops(family))
                .and(multicastLoop(family))
                .and(dontFragment(family));
    }

    private static ChannelOption<Integer> trafficClass(InternetFamily family) {
        return new ChannelOption<>(
                StandardSocketOptions.IP_TOS,
                forms(family, IPV6_TCLASS, IP_TOS),
                new ByteValue("Invalid IP_TOS value"));
    }

    private static ChannelOption<NetworkInterface> multicastInterface(InternetFamily family) {
        return new ChannelOption<>(
                StandardSocketOptions.IP_MULTICAST_IF,
                forms(family, IPV6_MULTICAST_IF, IP_MULTICAST_IF),
                new Interface());
    }

    private static ChannelOption<Integer> multicastHops(InternetFamily family) {
        return new ChannelOption<>(
                StandardSocketOptions.IP_MULTICAST_TTL,
                forms(family, IPV6_MULTICAST_HOPS, IP_MULTICAST_TTL),
                new ByteValue("Invalid TTL/hop value"));
    }

    private static ChannelOption<Boolean> multicastLoop(InternetFamily family) {
        return new ChannelOption<>(
                StandardSocketOptions.IP_MULTICAST_LOOP,
                forms(family, IPV6_MULTICAST_LOOP, IP_MULTICAST_LOOP),
                new Flag());
    }

    private static ChannelOption<Boolean> dontFragment(InternetFamily family) {
        return new ChannelOption<>(
                ExtendedSocketOptions.IP_DONTFRAGMENT,
                forms(family, IPV6_MTU_DISCOVER, IP_MTU_DISCOVER),
                new PathMtuDiscovery());
    }

    /**
     * Returns the options of {@code setsockopt} for an option of both address families. An IPv6
     * socket also needs the option of IPv4, because it can send to IPv4-mapped addresses.
     */
    private static List<COption> forms(InternetFamily family, int ipv6, int ipv4) {
        var form = new COption(IPPROTO_IP, ipv4);
        return family.isIpv6() ? List.of(new COption(IPPROTO_IPV6, ipv6), form) : List.of(form);
    }

    private static <T> ChannelOption<T> at(
            SocketOption<T> name, int level, int number, Value<T> value) {
        return new ChannelOption<>(name, List.of(new COption(level, number)), value);
    }

    /** The level and the number of an option of {@code setsockopt}. */
    record COption(int level, int number) {}

    @Nullable T read(int descriptor) throws IOException {
        var form = forms.getFirst();
        try (var scratch = Scratch.take()) {
            var memory = scratch.value(value.bytes(form));
            SocketFailure.check(
                    SocketCalls.getOption(
                            descriptor,
                            form.level,
                            form.number,
                            memory,
                            scratch.valueLength((int) memory.byteSize())));
            return value.read(memory, form);
        }
    }

    void write(int descriptor, T newValue) throws IOException {
        try (var scratch = Scratch.take()) {
            for (var form : forms) {
                var memory = scratch.value(value.bytes(form));
                value.write(memory, newValue, form);
                SocketFailure.check(
                        SocketCalls.setOption(descriptor, form.level, form.number, memory));
            }
        }
    }

    /**
     * Encodes and decodes the value of an option of {@code setsockopt}. The method {@code write}
     * throws IllegalArgumentException if the value is invalid.
     */
    abstract static class Value<T> {

        int bytes(COption form) {
            return Integer.BYTES;
        }

        abstract @Nullable T read(MemorySegment memory, COption form) throws IOException;

        abstract void write(MemorySegment memory, T value, COption form) throws IOException;
    }

    private static final class Flag extends Value<Boolean> {
        @Override
        Boolean read(MemorySegment memory, COption form) {
            return memory.get(JAVA_INT, 0) != 0;
        }

        @Override
        void write(MemorySegment memory, Boolean value, COption form) {
            memory.set(JAVA_INT, 0, value ? 1 : 0);
        }
    }

    private static class IntValue extends Value<Integer> {
        @Override
        Integer read(MemorySegment memory, COption form) {
            return memory.get(JAVA_INT, 0);
        }

        @Override
        void write(MemorySegment memory, Integer value, COption form) throws IOException {
            memory.set(JAVA_INT, 0, value);
        }
    }

    private static final class ReadOnly extends IntValue {
        @Override
        void write(MemorySegment memory, Integer value, COption form) throws IOException {
            throw new SocketException("The socket option is read-only");
        }
    }

    private static final class ByteValue extends IntValue {
        private final String message;

        ByteValue(String message) {
            this.message = message;
        }

        @Override
        void write(MemorySegment memory, Integer value, COption form) throws IOException {
            if (value < 0 || value > 255) {
                throw new IllegalArgumentException(message);
            }
            super.write(memory, value, form);
        }
    }

    /**
     * A buffer size. Linux adds space for its own use to a requested size, and reports twice the
     * requested size.
     */
    private static final class BufferSize extends IntValue {
        @Override
        Integer read(MemorySegment memory, COption form) {
            return super.read(memory, form) / 2;
        }

        @Override
        void write(MemorySegment memory, Integer value, COption form) throws IOException {
            if (value < 0) {
                throw new IllegalArgumentException("Invalid send/receive buffer size");
            }
            super.write(memory, value, form);
        }
    }

    /**
     * A linger time in seconds; in Java, a negative number disables lingering. In C: {@code struct
     * linger}, which consists of a flag and a number of seconds.
     */
    private static final class Linger extends Value<Integer> {
        private static final int MAX_SECONDS = 65_535;

        @Override
        int bytes(COption form) {
            return 2 * Integer.BYTES;
        }

        @Override
        Integer read(MemorySegment memory, COption form) {
            return memory.get(JAVA_INT, 0) == 0 ? -1 : memory.get(JAVA_INT, Integer.BYTES);
        }

        @Override
        void write(MemorySegment memory, Integer value, COption form) {
            memory.set(JAVA_INT, 0, value < 0 ? 0 : 1);
            memory.set(JAVA_INT, Integer.BYTES, Math.clamp(value, 0, MAX_SECONDS));
        }
    }

    /**
     * A network interface. In C: for IPv6, the index of the interface; for IPv4, {@code struct
     * ip_mreqn}, of which the kernel returns only the address of the interface.
     */
    private static final class Interface extends Value<NetworkInterface> {
        private static final int ADDRESS = 4;
        private static final int INDEX = 8;

        @Override
        int bytes(COption form) {
            return form.level == IPPROTO_IP ? INDEX + Integer.BYTES : Integer.BYTES;
        }

        @Override
        @Nullable NetworkInterface read(MemorySegment memory, COption form) throws IOException {
            if (form.level == IPPROTO_IP) {
                var address = InetAddress.getByAddress(memory.asSlice(0, 4).toArray(JAVA_BYTE));
                return address.isAnyLocalAddress()
                        ? null
                        : NetworkInterface.getByInetAddress(address);
            }
            var index = memory.get(JAVA_INT, 0);
            return index == 0 ? null : NetworkInterface.getByIndex(index);
        }

        @Override
        void write(MemorySegment memory, NetworkInterface value, COption form) {
            if (form.level != IPPROTO_IP) {
                memory.set(JAVA_INT, 0, value.getIndex());
                return;
            }
            memory.fill((byte) 0);
            memory.set(JAVA_INT, INDEX, value.getIndex());
            value.inetAddresses()
                    .filter(Inet4Address.class::isInstance)
                    .findFirst()
                    .map(InetAddress::getAddress)
                    .ifPresent(ip -> MemorySegment.copy(ip, 0, memory, JAVA_BYTE, ADDRESS, 4));
        }
    }

    /**
     * The path MTU discovery of datagrams: true never fragments them, false fragments them if the
     * route requires that.
     */
    private static final class PathMtuDiscovery extends Value<Boolean> {
        private static final int DONT = 0;
        private static final int DO = 2;

        @Override
        Boolean read(MemorySegment memory, COption form) {
            return memory.get(JAVA_INT, 0) == DO;
        }

        @Override
        void write(MemorySegment memory, Boolean value, COption form) {
            memory.set(JAVA_INT, 0, value ? DO : DONT);
        }
    }

    private record AdaptorOption(String name) implements SocketOption<Boolean> {
        @Override
        public Class<Boolean> type() {
            return Boolean.class;
        }

        @Override
        public String toString() {
            return name;
        }
    }
}
