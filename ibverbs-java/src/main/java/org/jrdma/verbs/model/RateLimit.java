package org.jrdma.verbs.model;

import org.jrdma.ffi.linkage.RangeChecks;

/**
 * The maximum sending rate of a queue pair. In C: {@code struct ibv_qp_rate_limit_attr}.
 *
 * @param kilobits the rate in kbit/s, an unsigned 32-bit value; 0 for no limit
 * @param maxBurstBytes the maximum burst size, an unsigned 32-bit value; 0 lets the device choose
 * @param typicalPacketBytes the typical packet size, an unsigned 16-bit value, from which the
 *     device computes the gaps between packets; 0 lets the device choose
 */
public record RateLimit(long kilobits, long maxBurstBytes, int typicalPacketBytes) {

    /** No limit. */
    public static final RateLimit NONE = ofKilobits(0);

    private static final long MOST = 0xffff_ffffL;

    /** Rejects values that do not fit their fields in C. */
    public RateLimit {
        RangeChecks.check("rate limit", kilobits, 0, MOST);
        RangeChecks.check("burst", maxBurstBytes, 0, MOST);
        RangeChecks.check("packet length", typicalPacketBytes, 0, 0xffff);
    }

    /** Returns a limit with the device's choice of burst and packet size. */
    public static RateLimit ofKilobits(long kilobits) {
        return new RateLimit(kilobits, 0, 0);
    }
}
