package org.jrdma.soft.roce;

/**
 * How often a bad network did what to the packets that a device sent, so that a test can show that
 * it happened. One packet may be counted in several, but one that was lost in no other.
 *
 * @param sent all packets sent while there was {@link Trouble}
 * @param lost those that went nowhere
 * @param duplicated those that went twice
 * @param overtaken those, or one of the two, that went after one sent later, whether {@link
 *     Trouble#reordering} or {@link Trouble#delay} held them back. Where none follows in time, none
 *     overtakes
 * @param damaged those with a bit turned
 * @param delayed those held back for {@link Trouble#lateness}
 */
public record TroubleCounts(
        long sent, long lost, long duplicated, long overtaken, long damaged, long delayed) {

    /** Nothing yet. */
    public static final TroubleCounts NONE = new TroubleCounts(0, 0, 0, 0, 0, 0);

    /** The sum of both. */
    public TroubleCounts plus(TroubleCounts more) {
        return new TroubleCounts(
                sent + more.sent,
                lost + more.lost,
                duplicated + more.duplicated,
                overtaken + more.overtaken,
                damaged + more.damaged,
                delayed + more.delayed);
    }
}
