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
import org.jspecify.annotations.Nullable;

/** Transports in the order in which they are preferred. */
record Transports(List<Transport> preferred) {

    static final String PROPERTY = "jrdma.sockets.transports";
    private static final KnownRefusals KNOWN = new KnownRefusals();
    private static final String DEFAULT = "supersockets,sisci,smc,tcp";

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
            case "smc" -> Transport.smc();
            default ->
                    throw new IllegalArgumentException(
                            "there is no transport \"%s\"; there are supersockets, sisci, smc, tcp"
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
    record ShortCut(SisciTransport transport, List<Refusal> refusals, boolean isLast) {}

    /** A socket that was made, and what was tried before. */
    record Opened(
            int descriptor,
            InternetFamily family,
            Transport transport,
            List<Refusal> refusals,
            @Nullable ShortCut shortCut) {

        private Opened with(@Nullable ShortCut other) {
            return new Opened(descriptor, family, transport, refusals, other);
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
        ShortCut shortCut = null;
        for (var transport : preferred) {
            switch (transport) {
                case SisciTransport sisci ->
                        shortCut = new ShortCut(sisci, List.copyOf(refusals), false);
                case FamilyTransport kernel -> {
                    try {
                        return openKernel(kernel, families.apply(kernel), List.copyOf(refusals))
                                .with(shortCut);
                    } catch (FabricException e) {
                        refusals.add(new Refusal(transport, e.getMessage()));
                    }
                }
            }
        }
        if (shortCut != null) {
            return openShortCut(shortCut.transport, families.apply(FamilyTransport.TCP), refusals);
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
            case SisciTransport sisci -> openShortCut(sisci, family, refusals);
            case FamilyTransport kernel -> openKernel(kernel, family, refusals);
        };
    }

    /** With a socket that has its options and its port, and is never connected. */
    private static Opened openShortCut(
            SisciTransport sisci, InternetFamily family, List<Refusal> refusals)
            throws IOException {
        var before = List.copyOf(refusals);
        return new Opened(
                openKernel(FamilyTransport.TCP, family, before).descriptor,
                family,
                sisci,
                before,
                new ShortCut(sisci, before, true));
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
            return new Opened(kernel.open(family), family, kernel, refusals, null);
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
