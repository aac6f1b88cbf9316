package org.jrdma.soft.roce;

import java.time.Duration;

/**
 * What a bad network does to packets, for tests of those who must bear it. Each probability is of
 * one packet, between 0 and 1.
 *
 * <p>It befalls the packets that a device sends, so between two devices of this fabric each packet
 * goes through it once. The same seed gives the same decisions for the same packets in the same
 * order, and each device of a process, by its name, decisions of its own.
 *
 * @param loss that it never arrives
 * @param duplication that it arrives twice
 * @param reordering that a few later ones overtake it
 * @param corruption that one of its bits arrives wrong; its receiver then drops it
 * @param delay that it is late
 * @param lateness how late
 * @param seed where decisions come from
 */
public record Trouble(
        double loss,
        double duplication,
        double reordering,
        double corruption,
        double delay,
        Duration lateness,
        long seed) {

    /** A good network. */
    public static final Trouble NONE = new Trouble(0, 0, 0, 0, 0, Duration.ZERO, 0);

    /** Checks that probabilities are such. */
    public Trouble {
        check("loss", loss);
        check("duplication", duplication);
        check("reordering", reordering);
        check("corruption", corruption);
        check("delay", delay);
        if (lateness.isNegative()) {
            throw new IllegalArgumentException("lateness is negative: " + lateness);
        }
    }

    /** A good network, to be made worse. */
    public static Trouble seeded(long seed) {
        return new Trouble(0, 0, 0, 0, 0, Duration.ZERO, seed);
    }

    /** The same with another seed. */
    public Trouble withSeed(long other) {
        return new Trouble(loss, duplication, reordering, corruption, delay, lateness, other);
    }

    /** The same with another loss. */
    public Trouble withLoss(double probability) {
        return new Trouble(probability, duplication, reordering, corruption, delay, lateness, seed);
    }

    /** The same with another duplication. */
    public Trouble withDuplication(double probability) {
        return new Trouble(loss, probability, reordering, corruption, delay, lateness, seed);
    }

    /** The same with another reordering. */
    public Trouble withReordering(double probability) {
        return new Trouble(loss, duplication, probability, corruption, delay, lateness, seed);
    }

    /** The same with another corruption. */
    public Trouble withCorruption(double probability) {
        return new Trouble(loss, duplication, reordering, probability, delay, lateness, seed);
    }

    /** The same with another delay. */
    public Trouble withDelay(double probability, Duration lateness) {
        return new Trouble(loss, duplication, reordering, corruption, probability, lateness, seed);
    }

    /** Whether it does nothing. */
    public boolean isNone() {
        return loss == 0 && duplication == 0 && reordering == 0 && corruption == 0 && delay == 0;
    }

    private static void check(String name, double probability) {
        if (!(probability >= 0 && probability <= 1)) {
            throw new IllegalArgumentException(
                    "%s of %s is no probability".formatted(name, probability));
        }
    }
}
