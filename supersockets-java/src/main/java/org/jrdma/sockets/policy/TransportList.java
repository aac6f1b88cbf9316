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
import org.jrdma.sockets.transport.FamilyTransport;
import org.jrdma.sockets.transport.FastPathCheck;
import org.jrdma.sockets.transport.RsocketTransport;
import org.jrdma.sockets.transport.SisciTransport;
import org.jrdma.sockets.transport.StreamTransport;

/** TransportList in the order in which they are preferred. */
public record TransportList(List<StreamTransport> preferred) {

    static final String PROPERTY = "jrdma.sockets.transports";
    private static final KnownRefusals KNOWN = new KnownRefusals();
    private static final String DEFAULT = "supersockets,sisci,rsocket,smc,tcp";

    public TransportList {
        preferred = List.copyOf(preferred);
        if (preferred.isEmpty()) {
            throw new IllegalArgumentException("No transport is named");
        }
    }

    /**
     * The transports that a program names.
     *
     * @throws IllegalArgumentException if one is not of this module, or there is none
     */
    public static TransportList of(List<Transport> preferred) {
        return new TransportList(preferred.stream().map(TransportList::ofThisModule).toList());
    }

    private static StreamTransport ofThisModule(Transport transport) {
        if (transport instanceof StreamTransport own) {
            return own;
        }
        throw new IllegalArgumentException(
                "%s is not a transport of this module".formatted(transport));
    }

    /** As the system property says. */
    static TransportList configured() {
        try {
            return parse(System.getProperty(PROPERTY, DEFAULT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PROPERTY + ": " + e.getMessage(), e);
        }
    }

    /** Of names with commas between them. */
    public static TransportList parse(String names) {
        return new TransportList(
                Arrays.stream(names.split(",", -1))
                        .map(String::strip)
                        .map(TransportList::find)
                        .toList());
    }

    private static StreamTransport find(String name) {
        return switch (name) {
            case "tcp" -> FamilyTransport.TCP;
            case "supersockets" -> FamilyTransport.SUPERSOCKETS;
            case "sisci" -> SisciTransport.CONFIGURED;
            case "rsocket" -> RsocketTransport.CONFIGURED;
            case "smc" -> FamilyTransport.SMC;
            default ->
                    throw new IllegalArgumentException(
                            "there is no transport \"%s\"; there are supersockets, sisci, rsocket, smc, tcp"
                                    .formatted(name));
        };
    }

    /** These, and TCP where they fail. */
    TransportList orTcp() {
        if (preferred.contains(FamilyTransport.TCP)) {
            return this;
        }
        var all = new ArrayList<>(preferred);
        all.add(FamilyTransport.TCP);
        return new TransportList(all);
    }

    /** A transport that was preferred, and why it was not taken. */
    public record Refusal(StreamTransport transport, String reason) {
        @Override
        public String toString() {
            return transport + ": " + reason;
        }
    }

    /**
     * A way past the kernel, to be tried when a socket is connected.
     *
     * @param refusals the transports that were tried before, with the reasons of their failures
     * @param isLast whether the socket itself must not be connected then
     */
    public record Bypass(BypassTransport transport, List<Refusal> refusals, boolean isLast) {}

    /** A new socket, and the transports that were tried before. */
    public record OpenedSocket(
            int descriptor,
            InternetFamily family,
            StreamTransport transport,
            List<Refusal> refusals,
            List<Bypass> bypasses) {

        private OpenedSocket with(List<Bypass> others) {
            return new OpenedSocket(descriptor, family, transport, refusals, List.copyOf(others));
        }
    }

    /** Makes a socket of the first transport that this machine can use for a family. */
    public OpenedSocket open(InternetFamily family) throws IOException {
        return open(transport -> family);
    }

    /** The same for any family: for all addresses, or as many as the transport reaches. */
    public OpenedSocket open() throws IOException {
        var widest = InternetFamily.standard();
        return open(transport -> transport.reaches(widest) ? widest : InternetFamily.IPV4);
    }

    private OpenedSocket open(Function<FamilyTransport, InternetFamily> families)
            throws IOException {
        var refusals = new ArrayList<Refusal>();
        var bypasses = new ArrayList<Bypass>();
        for (var transport : preferred) {
            switch (transport) {
                case BypassTransport way ->
                        bypasses.add(new Bypass(way, List.copyOf(refusals), false));
                case FamilyTransport kernel -> {
                    try {
                        return openKernel(kernel, families.apply(kernel), List.copyOf(refusals))
                                .with(bypasses);
                    } catch (FabricException e) {
                        refusals.add(new Refusal(transport, e.getMessage()));
                    }
                }
            }
        }
        if (!bypasses.isEmpty()) {
            return openKeeper(families.apply(FamilyTransport.TCP), bypasses);
        }
        throw new SocketException(
                refusals.stream()
                        .map(Refusal::toString)
                        .collect(Collectors.joining("; ", "No transport can be used: ", "")));
    }

    /**
     * Makes a socket of one transport.
     *
     * @param refusals the transports that were tried before, with the reasons of their failures
     * @throws FabricException with the reason if this machine cannot use it
     */
    public static OpenedSocket open(
            StreamTransport transport, InternetFamily family, List<Refusal> refusals)
            throws IOException {
        return switch (transport) {
            case BypassTransport way ->
                    openKeeper(family, List.of(new Bypass(way, List.copyOf(refusals), false)));
            case FamilyTransport kernel -> openKernel(kernel, family, refusals);
        };
    }

    /** A socket that has the options and the port of bypasss, and is never connected. */
    private static OpenedSocket openKeeper(InternetFamily family, List<Bypass> bypasses)
            throws IOException {
        var last = bypasses.getLast();
        var all = new ArrayList<>(bypasses);
        all.set(all.size() - 1, new Bypass(last.transport(), last.refusals(), true));
        return new OpenedSocket(
                openKernel(FamilyTransport.TCP, family, last.refusals()).descriptor,
                family,
                last.transport(),
                last.refusals(),
                List.copyOf(all));
    }

    private static OpenedSocket openKernel(
            FamilyTransport kernel, InternetFamily family, List<Refusal> refusals)
            throws IOException {
        FastPathCheck.before(kernel);
        var known = KNOWN.reason(kernel, family);
        if (known.isPresent()) {
            throw new FabricException(known.get());
        }
        try {
            return new OpenedSocket(kernel.open(family), family, kernel, refusals, List.of());
        } catch (FabricException e) {
            if (e.code() == Errno.EMFILE || e.code() == Errno.ENFILE) {
                throw new SocketException(e.getMessage()); // no reason to try another
            }
            KNOWN.remember(kernel, family, e.getMessage());
            throw e;
        }
    }

    /**
     * Why transports could not be used a moment ago: a kernel that is asked for a family which it
     * does not know looks for a module on disk, every time.
     */
    private static final class KnownRefusals {

        private static final Duration MEMORY = Duration.ofSeconds(10);

        private record Key(FamilyTransport transport, InternetFamily family) {}

        private record Reason(String text, Deadline until) {}

        private final Map<Key, Reason> reasons = new ConcurrentHashMap<>();

        Optional<String> reason(FamilyTransport transport, InternetFamily family) {
            var reason = reasons.get(new Key(transport, family));
            return reason == null || reason.until.hasPassed()
                    ? Optional.empty()
                    : Optional.of(reason.text);
        }

        void remember(FamilyTransport transport, InternetFamily family, String text) {
            reasons.put(new Key(transport, family), new Reason(text, Deadline.after(MEMORY)));
        }
    }
}
