package org.jrdma.verbs.model;

import org.jrdma.ffi.linkage.FieldRangeChecks;

/**
 * The maximum sending rate of a queue pair. In C: {@code struct ibv_qp_rate_limit_attr}.
 *
 * @param kilobits the maximum rate in kbit/s, an unsigned 32-bit value; 0 for no limit
 * @param maxBurstBytes the maximum length of a burst in bytes, an unsigned 32-bit value; 0 if the
 *     device chooses the length
 * @param typicalPacketBytes the typical length of a packet in bytes, an unsigned 16-bit value, from
 *     which the device computes the gaps between packets; 0 if the device chooses the length
 */
public record RateLimit(long kilobits, long maxBurstBytes, int typicalPacketBytes) {

    /** The absence of a limit: the queue pair sends at the speed of the port. */
    public static final RateLimit NONE = ofKilobits(0);

    private static final long MAX_32_BITS = 0xffff_ffffL;

    /** Checks that the values fit their fields in C. */
    public RateLimit {
        FieldRangeChecks.check("rate limit", kilobits, 0, MAX_32_BITS);
        FieldRangeChecks.check("burst", maxBurstBytes, 0, MAX_32_BITS);
        FieldRangeChecks.check("packet length", typicalPacketBytes, 0, 0xffff);
    }

    /** Returns a limit for which the device chooses the burst length and the packet length. */
    public static RateLimit ofKilobits(long kilobits) {
        return new RateLimit(kilobits, 0, 0);
    }
}
