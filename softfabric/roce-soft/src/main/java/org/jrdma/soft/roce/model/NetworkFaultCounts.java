package org.jrdma.soft.roce.model;

/**
 * The number of packets that network faults were injected into. A packet may be counted by several
 * fields, but a lost packet is counted by {@code sent} and {@code lost} only.
 *
 * @param sent packets sent while {@link NetworkFaults} were configured
 * @param lost packets dropped
 * @param duplicated packets sent twice
 * @param overtaken packets, or one copy of them, that left after a packet sent later because {@link
 *     NetworkFaults#reordering} or {@link NetworkFaults#delay} held them back. A packet held back
 *     is not overtaken if no packet follows in time
 * @param damaged packets with one bit inverted
 * @param delayed packets held back for {@link NetworkFaults#lateness}
 */
public record NetworkFaultCounts(
        long sent, long lost, long duplicated, long overtaken, long damaged, long delayed) {

    /** All zeros. */
    public static final NetworkFaultCounts NONE = new NetworkFaultCounts(0, 0, 0, 0, 0, 0);

    /** The sum of this and other counts. */
    public NetworkFaultCounts plus(NetworkFaultCounts more) {
        return new NetworkFaultCounts(
                sent + more.sent,
                lost + more.lost,
                duplicated + more.duplicated,
                overtaken + more.overtaken,
                damaged + more.damaged,
                delayed + more.delayed);
    }
}
