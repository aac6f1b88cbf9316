package org.jrdma.verbs.model;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * How one work request ended. In C: {@code struct ibv_wc}.
 *
 * @param status success, or what went wrong
 * @param kind the completed operation; undefined unless {@code status} is success
 * @param bytes how many bytes arrived, for receives, reads and atomics; of a datagram, with the
 *     {@link GlobalRouteHeader#BYTES} bytes before it
 * @param immediate the sender's immediate data, where a receive took some
 * @param invalidatedKey the key of the memory window that the sender has invalidated, if any
 * @param source where a datagram came from, for a receive of one that succeeded
 * @param goodChecksum whether the device has found a packet's checksums right; see {@link
 *     org.jrdma.verbs.CompletionCursor#hasGoodChecksum}
 * @param queuePairNumber the number of the queue pair; for a receive from a shared queue, that of
 *     the queue pair that consumed it
 * @param vendorError the vendor's own code for a failure
 */
public record Completion(
        CompletionStatus status,
        CompletionKind kind,
        int bytes,
        OptionalInt immediate,
        OptionalInt invalidatedKey,
        Optional<DatagramSource> source,
        boolean goodChecksum,
        int queuePairNumber,
        int vendorError) {

    /** Whether it was done. */
    public boolean isSuccess() {
        return status == CompletionStatus.SUCCESS;
    }
}
