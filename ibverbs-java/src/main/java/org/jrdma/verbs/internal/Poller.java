package org.jrdma.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jrdma.verbs.model.CompletionField;

/** Takes completions from one queue. For callers that are inside their guard. */
public abstract sealed class Poller permits Poller.Plain, ExtendedPoller {

    Poller() {}

    /** Fills a batch. Returns how many, or a negative number. */
    public abstract int poll(WorkCompletions batch);

    /** Of a queue that {@code ibv_create_cq} made. */
    public static Poller plain(HotPath hotPath, long queue) {
        return new Plain(hotPath, queue);
    }

    /**
     * Of a queue that {@code ibv_create_cq_ex} made.
     *
     * @param fields what its completions tell
     * @param oneByOne whether a poll must end before the next completion is looked at
     */
    public static Poller extended(
            HotPath hotPath, MemorySegment queue, Set<CompletionField> fields, boolean oneByOne) {
        return new ExtendedPoller(hotPath, queue, Codes.COMPLETION_FIELD.bits(fields), oneByOne);
    }

    private static final class Plain extends Poller {

        private final HotPath hotPath;
        private final long queue;

        Plain(HotPath hotPath, long queue) {
            this.hotPath = hotPath;
            this.queue = queue;
        }

        @Override
        public int poll(WorkCompletions batch) {
            return hotPath.poll(queue, batch.capacity(), batch.address());
        }
    }
}
