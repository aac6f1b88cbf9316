package org.jrdma.verbs.model;

import org.jrdma.ffi.linkage.FieldRange;

/**
 * How fast a queue pair sends at most. In C: {@code struct ibv_qp_rate_limit_attr}.
 *
 * @param kilobits the most in a second, 32 bits without a sign; 0 for no limit
 * @param maxBurstBytes how much may go at once, 32 bits without a sign; 0 leaves it to the device
 * @param typicalPacketBytes how long its packets usually are, 16 bits without a sign, from which
 *     the device reckons the gaps between them; 0 leaves it to the device
 */
public record RateLimit(long kilobits, long maxBurstBytes, int typicalPacketBytes) {

    /** None. */
    public static final RateLimit NONE = ofKilobits(0);

    private static final long MOST = 0xffff_ffffL;

    /** Refuses what does not fit its field. */
    public RateLimit {
        FieldRange.check("rate limit", kilobits, 0, MOST);
        FieldRange.check("burst", maxBurstBytes, 0, MOST);
        FieldRange.check("packet length", typicalPacketBytes, 0, 0xffff);
    }

    /** A limit that leaves the rest to the device. */
    public static RateLimit ofKilobits(long kilobits) {
        return new RateLimit(kilobits, 0, 0);
    }
}
