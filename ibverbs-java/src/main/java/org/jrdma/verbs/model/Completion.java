package org.jrdma.verbs.model;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * The result of a work request. In C: {@code struct ibv_wc}.
 *
 * @param status success, or the kind of failure
 * @param kind the completed operation; undefined unless {@code status} is success
 * @param bytes the number of bytes received, for receives, reads and atomics; for a datagram it
 *     includes the {@link GlobalRouteHeader#BYTES} bytes before the message
 * @param immediate the sender's immediate data, if the receive carried any
 * @param invalidatedKey the key of the memory window that the sender invalidated, if any
 * @param source the origin of a datagram, for a successful receive of one
 * @param goodChecksum true if the device verified the packet's checksums; see {@link
 *     org.jrdma.verbs.CompletionCursor#hasGoodChecksum}
 * @param queuePairNumber the number of the queue pair; for a receive from a shared receive queue,
 *     the number of the queue pair that consumed the receive
 * @param vendorError the vendor-specific code of a failure
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
