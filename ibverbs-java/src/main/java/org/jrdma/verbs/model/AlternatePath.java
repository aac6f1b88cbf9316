package org.jrdma.verbs.model;

import org.jrdma.ffi.linkage.RangeChecks;

/**
 * An alternate path to the peer. A queue pair switches to it if the primary path fails, or on
 * request. In C: the members of {@code struct ibv_qp_attr} that begin with {@code alt_}.
 *
 * @param address the path, whose port may differ from the port of the primary path
 * @param partitionKeyIndex the index into that port's partition table
 * @param timeout the acknowledgement timeout on this path: 4.096 us times 2 to this, 0 to 31; 0
 *     waits forever
 */
public record AlternatePath(AddressVector address, int partitionKeyIndex, int timeout) {

    /** Rejects values that do not fit their fields in C. */
    public AlternatePath {
        RangeChecks.check("port", address.port(), 1, 255);
        RangeChecks.check("partition key index", partitionKeyIndex, 0, 65535);
        RangeChecks.check("timeout exponent", timeout, 0, 31);
    }
}
