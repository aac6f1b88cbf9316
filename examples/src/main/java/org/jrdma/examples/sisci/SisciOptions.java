package org.jrdma.examples.sisci;

import java.io.IOException;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jrdma.examples.Fabric;
import org.jrdma.sisci.Node;

/**
 * What the SISCI examples have in common: their options, and how they wait.
 *
 * @param fabric system, software, or nothing
 * @param count how often
 * @param word a node or a text; empty for the side that waits
 */
record SisciOptions(String fabric, int count, String word) {

    static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Some 30 microseconds; a peer that stores at once needs no more. */
    private static final int SPINS = 1_000;

    private static final long PAUSE_NANOS = 50_000;

    /** What can be said, after the lines on what a program does. */
    static final String USAGE =
            """

              -f FABRIC   "system", or "software" (that where the machine has no libsisci)
              -n COUNT    how often, where that can be said (1000)

            Either side waits for the other for 2 minutes.\
            """;

    static SisciOptions parse(String... arguments) {
        var options = new SisciOptions("", 1_000, "");
        for (var i = 0; i < arguments.length; i++) {
            var argument = arguments[i];
            if (!argument.startsWith("-")) {
                options = new SisciOptions(options.fabric, options.count, argument);
            } else if (i + 1 == arguments.length) {
                throw new IllegalArgumentException("What is missing after %s?".formatted(argument));
            } else {
                i++;
                options =
                        switch (argument) {
                            case "-f" ->
                                    new SisciOptions(arguments[i], options.count, options.word);
                            case "-n" ->
                                    new SisciOptions(
                                            options.fabric, number(arguments[i]), options.word);
                            default ->
                                    throw new IllegalArgumentException(
                                            "There is no option %s; --help shows those there are."
                                                    .formatted(argument));
                        };
            }
        }
        return options;
    }

    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("\"%s\" is not a number.".formatted(text), e);
        }
    }

    /** This node, of the machine's libsisci or of the software fabric. */
    Node openNode() throws IOException {
        return Fabric.chooseSisci(fabric).open();
    }

    /** Whether this is the side that waits for the other. */
    boolean waits() {
        return word.isEmpty();
    }

    /** The other side's node. */
    int peer() {
        return number(word);
    }

    /** How long to wait for the other side, which nobody should wonder about. */
    static Duration patience(String what) {
        IO.println("connecting to %s, which has until %s to come".formatted(what, end()));
        return PATIENCE;
    }

    /** Says how the other side finds this one, and until when. */
    static void sayWhereItWaits(Node node) {
        IO.println("waiting on node %d, until %s".formatted(node.id(), end()));
    }

    private static LocalTime end() {
        return LocalTime.now(ZoneId.systemDefault()).plus(PATIENCE).truncatedTo(ChronoUnit.SECONDS);
    }

    /** Looks again and again: what a peer stores tells nobody. */
    static void spinUntil(BooleanSupplier condition) throws IOException {
        var end = System.nanoTime() + PATIENCE.toNanos();
        for (var spins = 0; !condition.getAsBoolean(); spins++) {
            if (System.nanoTime() - end > 0) {
                throw new IOException("The other side is silent; look there for the reason.");
            }
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }
}
