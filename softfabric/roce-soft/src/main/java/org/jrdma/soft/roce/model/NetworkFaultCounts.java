package org.jrdma.soft.roce.model;

/**
 * The numbers of packets that were affected by injected network faults. A packet with several
 * faults is counted by several components. A lost packet is counted only by {@code sent} and {@code
 * lost}.
 *
 * @param sent the number of packets that the device sent or dropped while {@link NetworkFaults}
 *     were configured
 * @param lost the number of packets dropped
 * @param duplicated the number of packets sent twice
 * @param overtaken the number of packets, including duplicates, that were held back by {@link
 *     NetworkFaults#reordering} or {@link NetworkFaults#delay} until at least one later packet was
 *     sent
 * @param damaged the number of packets in which one bit was inverted
 * @param delayed the number of packets held back for the duration {@link NetworkFaults#lateness}
 */
public record NetworkFaultCounts(
        long sent, long lost, long duplicated, long overtaken, long damaged, long delayed) {

    /** Counts that are all 0. */
    public static final NetworkFaultCounts NONE = new NetworkFaultCounts(0, 0, 0, 0, 0, 0);

    /** Returns the sums of the corresponding counts of this object and {@code other}. */
    public NetworkFaultCounts plus(NetworkFaultCounts other) {
        return new NetworkFaultCounts(
                sent + other.sent,
                lost + other.lost,
                duplicated + other.duplicated,
                overtaken + other.overtaken,
                damaged + other.damaged,
                delayed + other.delayed);
    }
}
