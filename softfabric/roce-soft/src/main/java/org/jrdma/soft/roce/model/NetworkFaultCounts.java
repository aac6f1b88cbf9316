package org.jrdma.soft.roce.model;

/**
 * The numbers of packets that network faults were injected into. A packet may be counted by several
 * fields, but a lost packet is counted by {@code sent} and {@code lost} only.
 *
 * @param sent the number of packets sent while {@link NetworkFaults} were configured
 * @param lost the number of packets dropped
 * @param duplicated the number of packets sent twice
 * @param overtaken the number of packets, or copies of packets, that left after a packet sent later
 *     because {@link NetworkFaults#reordering} or {@link NetworkFaults#delay} held them back. A
 *     packet held back is not overtaken if no packet follows in time
 * @param damaged the number of packets with one bit inverted
 * @param delayed the number of packets held back for {@link NetworkFaults#lateness}
 */
public record NetworkFaultCounts(
        long sent, long lost, long duplicated, long overtaken, long damaged, long delayed) {

    /** Counts that are all zero. */
    public static final NetworkFaultCounts NONE = new NetworkFaultCounts(0, 0, 0, 0, 0, 0);

    /** Returns the sum of these counts and others. */
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
