package org.jrdma.verbs.queue;

import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.verbs.internal.VerbsEnumCodes;
import org.jrdma.verbs.internal.WorkCompletions;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.DatagramSource;
import org.jspecify.annotations.Nullable;

/** Converts native completions to {@link Completion} records. */
public final class CompletionDecoder {

    private CompletionDecoder() {}

    /**
     * Converts one completion of a batch.
     *
     * @param work the work queue that the request was posted to; null if this queue is closed
     */
    public static Completion decode(
            WorkCompletions batch, int index, @Nullable WorkQueueSlots work) {
        var isDatagram = work != null && work.carriesDatagrams(batch.queuePairNumber(index));
        var status = VerbsEnumCodes.COMPLETION_STATUS.of(batch.status(index));
        return new Completion(
                status,
                VerbsEnumCodes.COMPLETION_KIND.of(batch.opcode(index)),
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
}
