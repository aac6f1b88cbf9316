package org.jrdma.soft.roce.model;

import java.time.Duration;
import org.jrdma.ffi.CheckReturnValue;

/**
 * The probabilities of the faults that a software device injects into the packets that it sends, to
 * simulate an unreliable network. Immutable: each method with a parameter returns a changed copy.
 * Each probability is between 0 and 1. The device decides about each fault once for each packet.
 *
 * <p>Faults are injected only by the sender. Therefore a packet between two software devices is
 * subject only to the faults of the device that sends it. The same seed leads to the same decisions
 * for the same sequence of packets. Devices with different names make different decisions with the
 * same seed, because the name is combined with the seed.
 *
 * @param loss the probability that a packet is dropped
 * @param duplication the probability that a packet is sent twice
 * @param reordering the probability that a packet is held back until one to four later packets were
 *     sent, or for 1 millisecond if fewer packets follow
 * @param corruption the probability that one bit of a packet is inverted; the receiver then drops
 *     the packet
 * @param delay the probability that a packet is held back for the duration {@code lateness}
 * @param lateness the duration by which a delayed packet is held back
 * @param seed the seed of the random number generator that makes all decisions
 */
@CheckReturnValue
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

    /**
     * Creates a configuration.
     *
     * @throws IllegalArgumentException if a probability is not between 0 and 1, or {@code lateness}
     *     is negative
     */
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

    /** Returns a configuration without faults but with a seed. */
    public static NetworkFaults seeded(long seed) {
        return new NetworkFaults(0, 0, 0, 0, 0, Duration.ZERO, seed);
    }

    /** Returns a copy with another seed. */
    public NetworkFaults seed(long other) {
        return new NetworkFaults(loss, duplication, reordering, corruption, delay, lateness, other);
    }

    /** Returns a copy with another probability of loss. */
    public NetworkFaults loss(double probability) {
        return new NetworkFaults(
                probability, duplication, reordering, corruption, delay, lateness, seed);
    }

    /** Returns a copy with another probability of duplication. */
    public NetworkFaults duplication(double probability) {
        return new NetworkFaults(loss, probability, reordering, corruption, delay, lateness, seed);
    }

    /** Returns a copy with another probability of reordering. */
    public NetworkFaults reordering(double probability) {
        return new NetworkFaults(loss, duplication, probability, corruption, delay, lateness, seed);
    }

    /** Returns a copy with another probability of corruption. */
    public NetworkFaults corruption(double probability) {
        return new NetworkFaults(loss, duplication, reordering, probability, delay, lateness, seed);
    }

    /** Returns a copy with another probability and another duration of delays. */
    public NetworkFaults delay(double probability, Duration lateness) {
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
