package org.jrdma.soft.roce.model;

import java.time.Duration;

/**
 * The faults that a simulated network injects into the packets that a device sends. Each
 * probability is between 0 and 1 and is evaluated once for each packet.
 *
 * <p>Faults are injected only at the sender, so a packet between two software devices is subject to
 * them once. A given seed produces the same decisions for the same sequence of packets. The
 * decisions also depend on the name of the device, so the devices of a process make different
 * decisions.
 *
 * @param loss the probability that a packet is dropped
 * @param duplication the probability that a packet is sent twice
 * @param reordering the probability that a few later packets overtake a packet
 * @param corruption the probability that one bit is inverted; the receiver then drops the packet
 * @param delay the probability that a packet is delayed
 * @param lateness the duration of a delay
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

    /** A network without faults but with a seed, to which faults can be added. */
    public static NetworkFaults seeded(long seed) {
        return new NetworkFaults(0, 0, 0, 0, 0, Duration.ZERO, seed);
    }

    /** Returns a copy with another seed. */
    public NetworkFaults withSeed(long other) {
        return new NetworkFaults(loss, duplication, reordering, corruption, delay, lateness, other);
    }

    /** Returns a copy with another probability of loss. */
    public NetworkFaults withLoss(double probability) {
        return new NetworkFaults(
                probability, duplication, reordering, corruption, delay, lateness, seed);
    }

    /** Returns a copy with another probability of duplication. */
    public NetworkFaults withDuplication(double probability) {
        return new NetworkFaults(loss, probability, reordering, corruption, delay, lateness, seed);
    }

    /** Returns a copy with another probability of reordering. */
    public NetworkFaults withReordering(double probability) {
        return new NetworkFaults(loss, duplication, probability, corruption, delay, lateness, seed);
    }

    /** Returns a copy with another probability of corruption. */
    public NetworkFaults withCorruption(double probability) {
        return new NetworkFaults(loss, duplication, reordering, probability, delay, lateness, seed);
    }

    /** Returns a copy with another probability and duration of delays. */
    public NetworkFaults withDelay(double probability, Duration lateness) {
        return new NetworkFaults(
                loss, duplication, reordering, corruption, probability, lateness, seed);
    }

    /** Returns true if no fault is configured. */
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
