package org.jrdma.sockets;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.Transports.Refusal;
import org.jrdma.sockets.Transports.ShortCut;
import org.jrdma.sockets.internal.AddressFamily;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jrdma.sockets.internal.UnixFamily;
import org.jspecify.annotations.Nullable;

/**
 * What kind of stream sockets a channel is made of, and the calls on them that depend on it.
 *
 * @param transport the way that the bytes take
 * @param refusals the transports that were preferred
 * @param addresses what addresses look like
 * @param options the options that a stream has
 * @param shortCuts what to try first when it is connected, in order
 */
record StreamKind(
        Transport transport,
        List<Refusal> refusals,
        AddressFamily addresses,
        ChannelOptions options,
        List<ShortCut> shortCuts) {

    private static final int SOL_SOCKET = 1;
    private static final int SO_ERROR = 4;
    private static final int SO_DOMAIN = 39;

    static StreamKind internet(Transports.Opened opened) {
        return new StreamKind(
                opened.transport(),
                opened.refusals(),
                opened.family(),
                ChannelOption.ofStream(opened.family()),
                opened.shortCuts());
    }

    static StreamKind unix() {
        return new StreamKind(
                FamilyTransport.UNIX,
                List.of(),
                UnixFamily.INSTANCE,
                ChannelOption.ofUnixStream(),
                List.of());
    }

    /** What is to be tried before the socket; null if there is nothing. */
    @Nullable ShortCut shortCut() {
        return shortCuts.isEmpty() ? null : shortCuts.getFirst();
    }

    /** The same when it has gone by the short cut. */
    StreamKind byShortCut(ShortCut taken) {
        return new StreamKind(taken.transport(), taken.refusals(), addresses, options, List.of());
    }

    /** The same when the first short cut leads nowhere. */
    StreamKind pastShortCut(String reason) {
        var refused = shortCuts.getFirst();
        var place = refused.refusals().size();
        var refusal = new Refusal(refused.transport(), reason);
        return new StreamKind(
                transport,
                with(refusals, place, refusal),
                addresses,
                options,
                shortCuts.stream()
                        .skip(1)
                        .map(next ->
                                new ShortCut(
                                        next.transport(),
                                        with(next.refusals(), place, refusal),
                                        next.isLast()))
                        .toList());
    }

    private static List<Refusal> with(List<Refusal> refusals, int place, Refusal refusal) {
        var all = new ArrayList<>(refusals);
        all.add(place, refusal);
        return List.copyOf(all);
    }

    /** The transports that were preferred, and why each was not taken. */
    List<String> reasons() {
        return refusals.stream().map(Refusal::toString).toList();
    }

    /** The same socket, with other transports that were preferred to it, and without short cut. */
    StreamKind withRefusals(List<Refusal> refusals) {
        return new StreamKind(transport, refusals, addresses, options, List.of());
    }

    /** Binds what is to be connected; null for an address of the system's choice. */
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

    SocketAddress bind(int descriptor, SocketAddress address) throws IOException {
        var checked = addresses.check(address);
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            var length = addresses.write(checked, name);
            SocketFailure.check(SocketCalls.bind(descriptor, name, length));
        }
        return localAddress(descriptor);
    }

    SocketAddress localAddress(int descriptor) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name();
            SocketFailure.check(SocketCalls.localName(descriptor, name.memory(), name.room()));
            return addresses.read(name);
        }
    }

    /**
     * The address by which the kernel would reach another.
     *
     * @param descriptor a socket, which is bound to that address and a port if it is not bound
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
     * The address that the kernel would have sent from. A socket of datagrams that is connected
     * sends nothing, and knows.
     */
    InetAddress sourceTowards(InetSocketAddress target) throws IOException {
        var family =
                ((InternetFamily) addresses).isIpv6() ? SocketCalls.AF_INET6 : SocketCalls.AF_INET;
        var datagrams = SocketFailure.check(SocketCalls.socket(family, SocketCalls.SOCK_DGRAM, 0));
        try {
            SocketFailure.check(connect(datagrams, target));
            return ((InetSocketAddress) localAddress(datagrams)).getAddress();
        } finally {
            SocketCalls.close(datagrams);
        }
    }

    /** Begins to connect. */
    int connect(int descriptor, SocketAddress address) throws IOException {
        try (var scratch = Scratch.take()) {
            var name = scratch.name().memory();
            return SocketCalls.connect(descriptor, name, addresses.write(address, name));
        }
    }

    /** Whether a connection that was begun is there: 1, not yet, or why not. */
    int connected(int descriptor) throws IOException {
        if (!SocketCalls.isReady(descriptor, SocketCalls.POLLOUT)) {
            return SocketCalls.AGAIN;
        }
        var errno = number(descriptor, SO_ERROR);
        return errno == 0 ? 1 : -errno;
    }

    /** The transport of a descriptor, by its own word. */
    String transportOf(int descriptor) throws IOException {
        var family = number(descriptor, SO_DOMAIN);
        return Stream.of(transport, Transport.supersockets(), Transport.smc(), Transport.tcp())
                .filter(each -> each instanceof FamilyTransport kernel && kernel.isFamily(family))
                .findFirst()
                .map(Transport::name)
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

    static int send(int descriptor, MemorySegment source, long bytes) {
        return SocketCalls.send(descriptor, source, bytes, 0);
    }

    static int sendOutOfBand(int descriptor, int value) {
        try (var scratch = Scratch.take()) {
            scratch.bytes().set(JAVA_BYTE, 0, (byte) value);
            return SocketCalls.send(descriptor, scratch.bytes(), 1, SocketCalls.MSG_OOB);
        }
    }

    /** Ends one direction, which a connection that has ended meanwhile does not mind. */
    static void shutdown(int descriptor, int how) throws IOException {
        var result = SocketCalls.shutdown(descriptor, how);
        if (result != -Errno.ENOTCONN) {
            SocketFailure.check(result);
        }
    }
}
