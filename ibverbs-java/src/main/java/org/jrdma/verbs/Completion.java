package org.jrdma.verbs;

import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.verbs.internal.Codes;
import org.jrdma.verbs.internal.WorkCompletions;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.DatagramSource;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jspecify.annotations.Nullable;

/**
 * How one work request ended. In C: {@code struct ibv_wc}.
 *
 * @param status success, or what went wrong
 * @param kind what was completed; of no meaning unless {@code status} is success
 * @param bytes how many bytes arrived, for receives, reads and atomics; of a datagram, with the
 *     {@link GlobalRouteHeader#BYTES} bytes before it
 * @param immediate the sender's immediate data, where a receive took some
 * @param invalidatedKey which memory window the sender has taken away, where a receive tells
 * @param source where a datagram came from, for a receive of one that succeeded
 * @param goodChecksum whether the device has found a packet's checksums right; see {@link
 *     CompletionCursor#hasGoodChecksum}
 * @param queuePairNumber the queue pair's; of a receive from a shared queue, that of who took it
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

    /** Of a batch, and of a request of {@code work}; null if that is closed. */
    static Completion of(WorkCompletions batch, int index, @Nullable WorkQueue work) {
        var isDatagram = work != null && work.isOfDatagrams(batch.queuePairNumber(index));
        var status = Codes.COMPLETION_STATUS.of(batch.status(index));
        return new Completion(
                status,
                Codes.COMPLETION_KIND.of(batch.opcode(index)),
                batch.byteLength(index),
                batch.hasImmediate(index)
                        ? OptionalInt.of(batch.immediate(index))
                        : OptionalInt.empty(),
                batch.hasInvalidated(index)
                        ? OptionalInt.of(batch.invalidatedKey(index))
                        : OptionalInt.empty(),
                isDatagram && status == CompletionStatus.SUCCESS && batch.isReceive(index)
                        ? Optional.of(source(batch, index))
                        : Optional.empty(),
                batch.hasGoodChecksum(index),
                batch.queuePairNumber(index),
                batch.vendorError(index));
    }

    private static DatagramSource source(WorkCompletions batch, int index) {
        return new DatagramSource(
                batch.sourceQueuePairNumber(index),
                batch.hasGlobalRoute(index),
                batch.sourceLid(index),
                batch.serviceLevel(index),
                batch.pathBits(index));
    }

    /** Whether it was done. */
    public boolean isSuccess() {
        return status == CompletionStatus.SUCCESS;
    }
}
