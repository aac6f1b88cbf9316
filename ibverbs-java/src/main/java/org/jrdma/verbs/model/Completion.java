package org.jrdma.verbs.model;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * The result of a work request. In C: {@code struct ibv_wc}.
 *
 * @param status success, or the kind of failure
 * @param kind the operation that completed; undefined unless {@code status} is SUCCESS
 * @param bytes the number of bytes that a receive, a read or an atomic operation transferred;
 *     undefined for other operations and for failures. For a datagram, the number includes the
 *     {@link GlobalRouteHeader#BYTES} bytes before the message
 * @param immediate the immediate data from the sender; empty if the completion has none
 * @param invalidatedKey the remote key of the local memory window that the received message
 *     invalidated; empty if it invalidated none
 * @param source the origin of a datagram; present only for the successful receive of a datagram
 * @param goodChecksum true if the device verified the checksums of the received packet; see {@link
 *     org.jrdma.verbs.CompletionCursor#hasGoodChecksum}
 * @param queuePairNumber the number of the queue pair that the request was posted to or, for a
 *     receive of a shared receive queue, of the queue pair that consumed it
 * @param vendorError the vendor-specific error code of a failure
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

    /** Returns true if the work request succeeded. */
    public boolean isSuccess() {
        return status == CompletionStatus.SUCCESS;
    }
}
