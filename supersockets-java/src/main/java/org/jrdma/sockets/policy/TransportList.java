package org.jrdma.sockets.policy;

import java.io.IOException;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.transport.BypassTransport;
import org.jrdma.sockets.transport.KernelTransport;
import org.jrdma.sockets.transport.MachineWarnings;
import org.jrdma.sockets.transport.RsocketTransport;
import org.jrdma.sockets.transport.SisciTransport;
import org.jrdma.sockets.transport.StreamTransport;

/**
 * A list of transports in order of preference.
 *
 * @param preferred the transports, the most preferred first
 */
public record TransportList(List<StreamTransport> preferred) {

    static final String PROPERTY = "jrdma.sockets.transports";
    private static final FailureCache FAILURES = new FailureCache();
    private static final String DEFAULT = "supersockets,sisci,rsocket,smc,tcp";

    public TransportList {
        preferred = List.copyOf(preferred);
        if (preferred.isEmpty()) {
            throw new IllegalArgumentException("The list of transports is empty");
        }
    }

    /**
     * Creates a list from the transports that a program specifies.
     *
     * @throws IllegalArgumentException if the list is empty, or contains a transport that was not
     *     created by this module
     */
    public static TransportList of(List<Transport> preferred) {
        return new TransportList(preferred.stream().map(TransportList::requireKnown).toList());
    }

    private static StreamTransport requireKnown(Transport transport) {
        if (transport instanceof StreamTransport known) {
            return known;
        }
        throw new IllegalArgumentException(
                "%s is not a transport of this module".formatted(transport));
    }

    static TransportList configured() {
        try {
            return parse(System.getProperty(PROPERTY, DEFAULT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PROPERTY + ": " + e.getMessage(), e);
        }
    }

    /**
     * Parses a comma-separated list of the names of transports.
     *
     * @throws IllegalArgumentException if a name is unknown
     */
    public static TransportList parse(String names) {
        return new TransportList(
                Arrays.stream(names.split(",", -1))
                        .map(String::strip)
                        .map(TransportList::find)
                        .toList());
    }

    private static StreamTransport find(String name) {
        return switch (name) {
            case "tcp" -> KernelTransport.TCP;
            case "supersockets" -> KernelTransport.SUPERSOCKETS;
            case "sisci" -> SisciTransport.CONFIGURED;
            case "rsocket" -> RsocketTransport.CONFIGURED;
            case "smc" -> KernelTransport.SMC;
            default ->
                    throw new IllegalArgumentException(
                            "unknown transport \"%s\"; the transports are supersockets, sisci, rsocket, smc, tcp"
                                    .formatted(name));
        };
    }

    /** Returns this list with TCP added at its end, unless it contains TCP. */
    TransportList orTcp() {
        if (preferred.contains(KernelTransport.TCP)) {
            return this;
        }
        var all = new ArrayList<>(preferred);
        all.add(KernelTransport.TCP);
        return new TransportList(all);
    }

    /** A preferred transport that a stream does not use, and the reason. */
    public record UnusedTransport(StreamTransport transport, String reason) {
        @Override
        public String toString() {
            return transport + ": " + reason;
        }
    }

    /**
     * A transport without a kernel socket over which a channel tries to connect before it connects
     * its kernel socket.
     *
     * @param transport the transport
     * @param unused the transports that are preferred to {@code transport} and could not be used,
     *     with the reasons
     * @param isLast true if the kernel socket is not tried when this transport fails
     */
    public record Bypass(BypassTransport transport, List<UnusedTransport> unused, boolean isLast) {}

    /**
     * A new kernel socket, and the transports without a kernel socket that are preferred to it.
     *
     * @param descriptor the descriptor of the socket
     * @param family the address family of the socket
     * @param transport the transport of the socket; the last of {@code bypasses} if the socket is
     *     never connected
     * @param unused the transports that are preferred to {@code transport} and could not be used,
     *     with the reasons
     * @param bypasses the transports to try, in order, before the socket is connected
     */
    public record OpenedSocket(
            int descriptor,
            InternetFamily family,
            StreamTransport transport,
            List<UnusedTransport> unused,
            List<Bypass> bypasses) {

        private OpenedSocket with(List<Bypass> added) {
            return new OpenedSocket(descriptor, family, transport, unused, List.copyOf(added));
        }
    }

    /**
     * Opens a socket of the first kernel transport that is usable for an address family.
     *
     * @throws SocketException if no transport can be used
     */
    public OpenedSocket open(InternetFamily family) throws IOException {
        return open(transport -> family);
    }

    /**
     * Opens a socket of the first usable kernel transport. The socket has the default address
     * family of this machine if the transport supports that family, otherwise to IPv4.
     *
     * @throws SocketException if no transport can be used
     */
    public OpenedSocket open() throws IOException {
        var widest = InternetFamily.standard();
        return open(transport -> transport.reaches(widest) ? widest : InternetFamily.IPV4);
    }

    private OpenedSocket open(Function<KernelTransport, InternetFamily> families)
            throws IOException {
        var unused = new ArrayList<UnusedTransport>();
        var bypasses = new ArrayList<Bypass>();
        for (var transport : preferred) {
            switch (transport) {
                case BypassTransport bypass ->
                        bypasses.add(new Bypass(bypass, List.copyOf(unused), false));
                case KernelTransport kernel -> {
                    try {
                        return openKernel(kernel, families.apply(kernel), List.copyOf(unused))
                                .with(bypasses);
                    } catch (FabricException e) {
                        unused.add(new UnusedTransport(transport, e.getMessage()));
                    }
                }
            }
        }
        if (!bypasses.isEmpty()) {
            return openOptionsSocket(families.apply(KernelTransport.TCP), bypasses);
        }
        throw new SocketException(
                unused.stream()
                        .map(UnusedTransport::toString)
                        .collect(Collectors.joining("; ", "No transport can be used: ", "")));
    }

    /**
     * Opens a socket for a stream that may use only one transport.
     *
     * @param unused the transports that were tried before, with the reasons of their failures
     * @throws FabricException if the transport is unusable on this machine; the message has the
     *     reason
     */
    public static OpenedSocket open(
            StreamTransport transport, InternetFamily family, List<UnusedTransport> unused)
            throws IOException {
        return switch (transport) {
            case BypassTransport bypass ->
                    openOptionsSocket(
                            family, List.of(new Bypass(bypass, List.copyOf(unused), false)));
            case KernelTransport kernel -> openKernel(kernel, family, unused);
        };
    }

    /**
     * Opens a TCP socket for a channel that may not use kernel sockets. It holds the options and
     * the port of the channel, and is never connected.
     */
    private static OpenedSocket openOptionsSocket(InternetFamily family, List<Bypass> bypasses)
            throws IOException {
        var last = bypasses.getLast();
        var all = new ArrayList<>(bypasses);
        all.set(all.size() - 1, new Bypass(last.transport(), last.unused(), true));
        return new OpenedSocket(
                openKernel(KernelTransport.TCP, family, last.unused()).descriptor,
                family,
                last.transport(),
                last.unused(),
                List.copyOf(all));
    }

    private static OpenedSocket openKernel(
            KernelTransport kernel, InternetFamily family, List<UnusedTransport> unused)
            throws IOException {
        MachineWarnings.before(kernel);
        var cachedReason = FAILURES.reason(kernel, family);
        if (cachedReason.isPresent()) {
            throw new FabricException(cachedReason.get());
        }
        try {
            return new OpenedSocket(kernel.open(family), family, kernel, unused, List.of());
        } catch (FabricException e) {
            if (e.code() == Errno.EMFILE || e.code() == Errno.ENFILE) {
                // The process has run out of file descriptors, so every other transport would fail
                // too.
                throw new SocketException(e.getMessage());
            }
            FAILURES.remember(kernel, family, e.getMessage());
            throw e;
        }
    }

    /**
     * Caches the reasons why transports could not be used. Without the cache, the kernel would
     * search the disk for a module each time a socket of an unknown address family is opened.
     */
    private static final class FailureCache {

        private static final Duration LIFETIME = Duration.ofSeconds(10);

        private record Key(KernelTransport transport, InternetFamily family) {}

        private record Reason(String text, Deadline until) {}

        private final Map<Key, Reason> reasons = new ConcurrentHashMap<>();

        Optional<String> reason(KernelTransport transport, InternetFamily family) {
            var reason = reasons.get(new Key(transport, family));
            return reason == null || reason.until.hasPassed()
                    ? Optional.empty()
                    : Optional.of(reason.text);
        }

        void remember(KernelTransport transport, InternetFamily family, String text) {
            // A program may create any number of transports.
            reasons.values().removeIf(reason -> reason.until.hasPassed());
            reasons.put(new Key(transport, family), new Reason(text, Deadline.after(LIFETIME)));
        }
    }
}
