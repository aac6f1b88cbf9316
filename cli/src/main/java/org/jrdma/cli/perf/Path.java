package org.jrdma.cli.perf;

import java.io.IOException;
import java.util.Optional;

/**
 * A way to move bytes that can be measured.
 *
 * @param name what the command calls it
 * @param description what it is, for a reader of the result
 * @param provider what it goes over
 * @param smallest the least that it moves
 * @param largest the most
 * @param isRoundTrip whether an exchange goes there and back, so that half of it counts
 */
record Path(
        String name,
        String description,
        Provider provider,
        int smallest,
        int largest,
        boolean isRoundTrip,
        Opener opener) {

    /** A way of sockets. */
    Path(
            String name,
            String description,
            int smallest,
            int largest,
            boolean isRoundTrip,
            Optional<String> missing,
            Opener opener) {
        this(
                name,
                description,
                Provider.ofSockets(missing),
                smallest,
                largest,
                isRoundTrip,
                opener);
    }

    /** Opens one side of it; both sides do so at once, and tell each other what they must know. */
    @FunctionalInterface
    interface Opener {
        /**
         * Opens.
         *
         * @param largest what will be moved at once at most
         * @param measures whether this is the side that measures
         */
        Link open(ControlChannel peer, int largest, boolean measures) throws IOException;
    }

    /** The same, where the other side is on another machine. */
    Path towardsAnotherMachine() {
        return new Path(
                name,
                description,
                provider.towardsAnotherMachine(),
                smallest,
                largest,
                isRoundTrip,
                opener);
    }

    /** Why this machine has no such way; empty if it has. */
    Optional<String> missing() {
        return provider.missing();
    }

    /** The sizes that it moves. */
    String range() {
        return "%s to %s bytes".formatted(Size.toString(smallest), Size.toString(largest));
    }

    boolean moves(int bytes) {
        return smallest <= bytes && bytes <= largest;
    }
}
