package org.jrdma.verbs.model;

import java.time.Duration;
import org.jrdma.ffi.linkage.FieldRangeChecks;

/**
 * An alternate path to the peer. A queue pair switches to it if the primary path fails, or on
 * request. In C: the members of {@code struct ibv_qp_attr} that begin with {@code alt_}.
 *
 * @param address the path, whose port may differ from the port of the primary path
 * @param partitionKeyIndex the index of the P_Key in the partition table of the port of the
 *     alternate path
 * @param acknowledgeTimeout the acknowledgement timeout on the alternate path; see {@link
 *     QueuePairChange#acknowledgeTimeout(Duration)}
 */
public record AlternatePath(
        AddressVector address, int partitionKeyIndex, Duration acknowledgeTimeout) {

    /** Checks the ranges of the values. */
    public AlternatePath {
        FieldRangeChecks.check("port", address.port(), 1, 255);
        FieldRangeChecks.check("partition key index", partitionKeyIndex, 0, 65535);
        QueuePairChange.checkPositive("acknowledgement timeout", acknowledgeTimeout);
    }
}
