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
import org.jrdma.sockets.internal.AddressFamily;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SmcSockets;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jrdma.sockets.internal.UnixFamily;
import org.jrdma.sockets.policy.TransportList;
import org.jrdma.sockets.policy.TransportList.Bypass;
import org.jrdma.sockets.policy.TransportList.Refusal;
import org.jrdma.sockets.report.StreamReport;
import org.jrdma.sockets.transport.FamilyTransport;
import org.jrdma.sockets.transport.StreamTransport;
import org.jspecify.annotations.Nullable;

/**
 * What kind of stream sockets a channel is made of, and the calls on them that depend on it.
 *
 * @param transport the way that the bytes take
 * @param refusals the transports that were preferred
 * @param addresses what addresses look like
 * @param options the options that a stream has
 * @param bypasses what to try first when it is connected, in order
 */
public record StreamKind(
        StreamTransport transport,
        List<Refusal> refusals,
        AddressFamily addresses,
        ChannelOptions options,
        List<Bypass> bypasses) {

    private static final int SOL_SOCKET = 1;
    private static final int SO_ERROR = 4;
    private static final int SO_DOMAIN = 39;

    public static StreamKind internet(TransportList.OpenedSocket opened) {
        return new StreamKind(
                opened.transport(),
                opened.refusals(),
                opened.family(),
                ChannelOption.ofStream(opened.family()),
                opened.bypasses());
    }

    public static StreamKind unix() {
        return new StreamKind(
                FamilyTransport.UNIX,
                List.of(),
                UnixFamily.INSTANCE,
                ChannelOption.ofUnixStream(),
                List.of());
    }

    /** What is to be tried before the socket; null if there is nothing. */
    @Nullable Bypass bypass() {
        return bypasses.isEmpty() ? null : bypasses.getFirst();
    }

    /** The same connection attempt, after it has used the bypass. */
    StreamKind overBypass(Bypass taken) {
        return new StreamKind(taken.transport(), taken.refusals(), addresses, options, List.of());
    }

    /** The same attempt, after the first bypass has failed. */
    StreamKind pastBypass(String reason) {
        var refused = bypasses.getFirst();
        var place = refused.refusals().size();
        var refusal = new Refusal(refused.transport(), reason);
        return new StreamKind(
                transport,
                with(refusals, place, refusal),
                addresses,
                options,
                bypasses.stream()
                        .skip(1)
                        .map(next ->
                                new Bypass(
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

    /** The same socket, with other transports that were preferred to it, and without bypass. */
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
        addresses.bind(descriptor, addresses.check(address));
        return localAddress(descriptor);
    }

    SocketAddress localAddress(int descriptor) throws IOException {
        return addresses.localAddress(descriptor);
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
        return addresses.connect(descriptor, address);
    }

    /** Whether a connection that was begun is there: 1, not yet, or why not. */
    int connected(int descriptor) throws IOException {
        if (!SocketCalls.isReady(descriptor, SocketCalls.POLLOUT)) {
            return SocketCalls.AGAIN;
        }
        var errno = number(descriptor, SO_ERROR);
        return errno == 0 ? 1 : -errno;
    }

    /**
     * The path that a connected socket takes, as the kernel reports it: a preloaded library may
     * have replaced the socket, and SMC falls back to TCP by itself.
     */
    StreamReport.Path kernelPath(int descriptor, SmcSockets smc) throws IOException {
        var name = transportOf(descriptor);
        var reasons = new ArrayList<>(reasons());
        if (transport.equals(FamilyTransport.SMC)) {
            var why = smc.whyOverTcp(descriptor);
            if (why.isPresent()) {
                name = FamilyTransport.TCP.name(); // newer kernels say so of the descriptor too
                reasons.add("smc: over TCP by itself: " + why.get());
            }
        }
        return new StreamReport.Path(name, reasons);
    }

    private String transportOf(int descriptor) throws IOException {
        var family = number(descriptor, SO_DOMAIN);
        return Stream.of(
                        transport,
                        FamilyTransport.SUPERSOCKETS,
                        FamilyTransport.SMC,
                        FamilyTransport.TCP)
                .filter(each -> each instanceof FamilyTransport kernel && kernel.isFamily(family))
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

    static int sendOutOfBand(int descriptor, int value) {
        try (var scratch = Scratch.take()) {
            scratch.bytes().set(JAVA_BYTE, 0, (byte) value);
            return SocketCalls.send(descriptor, scratch.bytes(), 1, SocketCalls.MSG_OOB);
        }
    }
}
