package org.jrdma.soft.roce.model;

import java.time.Duration;

/**
 * Faults that a simulated network injects into the packets that a device sends. Each probability, 0
 * to 1, applies to one packet.
 *
 * <p>Between two devices of this fabric, each packet passes the faults once. The same seed makes
 * the same decisions for the same sequence of packets. Each device of a process, by its name, makes
 * different decisions.
 *
 * @param loss the probability that a packet is dropped
 * @param duplication the probability that a packet is sent twice
 * @param reordering the probability that a few later packets overtake a packet
 * @param corruption the probability that one bit is inverted; the receiver then drops the packet
 * @param delay the probability that a packet is delayed
 * @param lateness the length of a delay
 * @param seed the seed of all decisions
 */
public record NetworkFaults(
        double loss,
        double duplication,
        double reordering,
        double corruption,
        double delay,
        Duration lateness,
        long seed) {

    /** A network without faults. */
    public static final NetworkFaults NONE = new NetworkFaults(0, 0, 0, 0, 0, Duration.ZERO, 0);

    /** Checks the ranges. */
    public NetworkFaults {
        check("loss", loss);
        check("duplication", duplication);
        check("reordering", reordering);
        check("corruption", corruption);
        check("delay", delay);
        if (lateness.isNegative()) {
            throw new IllegalArgumentException("lateness must not be negative: " + lateness);
        }
    }

    /** A network without faults, with a seed for faults to be added. */
    public static NetworkFaults seeded(long seed) {
        return new NetworkFaults(0, 0, 0, 0, 0, Duration.ZERO, seed);
    }

    /** A copy with another seed. */
    public NetworkFaults withSeed(long other) {
        return new NetworkFaults(loss, duplication, reordering, corruption, delay, lateness, other);
    }

    /** A copy with another loss. */
    public NetworkFaults withLoss(double probability) {
        return new NetworkFaults(
                probability, duplication, reordering, corruption, delay, lateness, seed);
    }

    /** A copy with another duplication. */
    public NetworkFaults withDuplication(double probability) {
        return new NetworkFaults(loss, probability, reordering, corruption, delay, lateness, seed);
    }

    /** A copy with another reordering. */
    public NetworkFaults withReordering(double probability) {
        return new NetworkFaults(loss, duplication, probability, corruption, delay, lateness, seed);
    }

    /** A copy with another corruption. */
    public NetworkFaults withCorruption(double probability) {
        return new NetworkFaults(loss, duplication, reordering, probability, delay, lateness, seed);
    }

    /** A copy with another delay. */
    public NetworkFaults withDelay(double probability, Duration lateness) {
        return new NetworkFaults(
                loss, duplication, reordering, corruption, probability, lateness, seed);
    }

    /** Whether no fault is configured. */
    public boolean isNone() {
        return loss == 0 && duplication == 0 && reordering == 0 && corruption == 0 && delay == 0;
    }

    private static void check(String name, double probability) {
        if (!(probability >= 0 && probability <= 1)) {
            throw new IllegalArgumentException(
                    "%s must be between 0 and 1, not %s".formatted(name, probability));
        }
    }
}
