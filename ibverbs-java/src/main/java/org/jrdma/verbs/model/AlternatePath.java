package org.jrdma.verbs.model;

import org.jrdma.ffi.linkage.FieldRange;

/**
 * A second way to the peer, which a queue pair takes when the first fails or it is told to. In C:
 * the members of {@code struct ibv_qp_attr} that begin with {@code alt_}.
 *
 * @param address the way, from a port that may be another than the first way's
 * @param partitionKeyIndex the row of that port's partition table
 * @param timeout how long to wait for an answer there: 4.096 us times 2 to this, 0 to 31; 0 is for
 *     ever
 */
public record AlternatePath(AddressVector address, int partitionKeyIndex, int timeout) {

    /** Refuses what does not fit its field. */
    public AlternatePath {
        FieldRange.check("port", address.port(), 1, 255);
        FieldRange.check("partition key index", partitionKeyIndex, 0, 65535);
        FieldRange.check("time-out exponent", timeout, 0, 31);
    }
}
