package org.jrdma.verbs.model;

import org.jrdma.ffi.linkage.RangeChecks;

/**
 * An alternate path to the peer. A queue pair switches to it if the primary path fails, or on
 * request. In C: the members of {@code struct ibv_qp_attr} that begin with {@code alt_}.
 *
 * @param address the path, whose port may differ from the port of the primary path
 * @param partitionKeyIndex the index of the P_Key in the partition table of the port of the
 *     alternate path
 * @param timeout the acknowledgement timeout on the alternate path, as the exponent e of 4.096 us *
 *     2^e, 1 to 31; 0 disables the timeout
 */
public record AlternatePath(AddressVector address, int partitionKeyIndex, int timeout) {

    /** Checks that the values fit their fields in C. */
    public AlternatePath {
        RangeChecks.check("port", address.port(), 1, 255);
        RangeChecks.check("partition key index", partitionKeyIndex, 0, 65535);
        RangeChecks.check("timeout exponent", timeout, 0, 31);
    }
}
