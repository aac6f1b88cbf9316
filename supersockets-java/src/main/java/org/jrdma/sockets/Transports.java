package org.jrdma.sockets;

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

/** Transports in the order in which they are preferred. */
record Transports(List<Transport> preferred) {

    static final String PROPERTY = "jrdma.sockets.transports";
    private static final KnownRefusals KNOWN = new KnownRefusals();
    private static final String DEFAULT = "supersockets,sisci,rsocket,smc,tcp";

    Transports {
        preferred = List.copyOf(preferred);
        if (preferred.isEmpty()) {
            throw new IllegalArgumentException("No transport is named");
        }
    }

    /** As the system property says. */
    static Transports configured() {
        try {
            return parse(System.getProperty(PROPERTY, DEFAULT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(PROPERTY + ": " + e.getMessage(), e);
        }
    }

    /** Of names with commas between them. */
    static Transports parse(String names) {
        return new Transports(
                Arrays.stream(names.split(",", -1))
                        .map(String::strip)
                        .map(Transports::find)
                        .toList());
    }

    private static Transport find(String name) {
        return switch (name) {
            case "tcp" -> Transport.tcp();
            case "supersockets" -> Transport.supersockets();
            case "sisci" -> Transport.sisci();
            case "rsocket" -> Transport.rsocket();
            case "smc" -> Transport.smc();
            default ->
                    throw new IllegalArgumentException(
                            "there is no transport \"%s\"; there are supersockets, sisci, rsocket, smc, tcp"
                                    .formatted(name));
        };
    }

    /** These, and TCP where they fail. */
    Transports orTcp() {
        if (preferred.contains(Transport.tcp())) {
            return this;
        }
        var all = new ArrayList<>(preferred);
        all.add(Transport.tcp());
        return new Transports(all);
    }

    /** A transport that was preferred, and why it was not taken. */
    record Refusal(Transport transport, String reason) {
        @Override
        public String toString() {
            return transport + ": " + reason;
        }
    }

    /**
     * A way past the kernel, to be tried when a socket is connected.
     *
     * @param refusals what was tried before
     * @param isLast whether the socket itself must not be connected then
     */
    record ShortCut(ShortCutTransport transport, List<Refusal> refusals, boolean isLast) {}

    /** A socket that was made, and what was tried before. */
    record Opened(
            int descriptor,
            InternetFamily family,
            Transport transport,
            List<Refusal> refusals,
            List<ShortCut> shortCuts) {

        private Opened with(List<ShortCut> others) {
            return new Opened(descriptor, family, transport, refusals, List.copyOf(others));
        }
    }

    /** Makes a socket of the first transport that this machine can use for a family. */
    Opened open(InternetFamily family) throws IOException {
        return open(transport -> family);
    }

    /** The same for any family: for all addresses, or as many as the transport reaches. */
    Opened open() throws IOException {
        var widest = InternetFamily.standard();
        return open(transport -> transport.reaches(widest) ? widest : InternetFamily.IPV4);
    }

    private Opened open(Function<FamilyTransport, InternetFamily> families) throws IOException {
        var refusals = new ArrayList<Refusal>();
        var shortCuts = new ArrayList<ShortCut>();
        for (var transport : preferred) {
            switch (transport) {
                case ShortCutTransport way ->
                        shortCuts.add(new ShortCut(way, List.copyOf(refusals), false));
                case FamilyTransport kernel -> {
                    try {
                        return openKernel(kernel, families.apply(kernel), List.copyOf(refusals))
                                .with(shortCuts);
                    } catch (FabricException e) {
                        refusals.add(new Refusal(transport, e.getMessage()));
                    }
                }
            }
        }
        if (!shortCuts.isEmpty()) {
            return openKeeper(families.apply(FamilyTransport.TCP), shortCuts);
        }
        throw new SocketException(
                refusals.stream()
                        .map(Refusal::toString)
                        .collect(Collectors.joining("; ", "No transport can be used: ", "")));
    }

    /**
     * Makes a socket of one transport.
     *
     * @param refusals what was tried before
     * @throws FabricException with the reason if this machine cannot use it
     */
    static Opened open(Transport transport, InternetFamily family, List<Refusal> refusals)
            throws IOException {
        return switch (transport) {
            case ShortCutTransport way ->
                    openKeeper(family, List.of(new ShortCut(way, List.copyOf(refusals), false)));
            case FamilyTransport kernel -> openKernel(kernel, family, refusals);
        };
    }

    /** A socket that has the options and the port of short cuts, and is never connected. */
    private static Opened openKeeper(InternetFamily family, List<ShortCut> shortCuts)
            throws IOException {
        var last = shortCuts.getLast();
        var all = new ArrayList<>(shortCuts);
        all.set(all.size() - 1, new ShortCut(last.transport(), last.refusals(), true));
        return new Opened(
                openKernel(FamilyTransport.TCP, family, last.refusals()).descriptor,
                family,
                last.transport(),
                last.refusals(),
                List.copyOf(all));
    }

    private static Opened openKernel(
            FamilyTransport kernel, InternetFamily family, List<Refusal> refusals)
            throws IOException {
        FastPathCheck.before(kernel);
        var known = KNOWN.reason(kernel, family);
        if (known.isPresent()) {
            throw new FabricException(known.get());
        }
        try {
            return new Opened(kernel.open(family), family, kernel, refusals, List.of());
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
