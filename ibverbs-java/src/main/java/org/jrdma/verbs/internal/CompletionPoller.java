package org.jrdma.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jrdma.verbs.model.CompletionField;

/**
 * Polls one completion queue. Callers must be inside a guarded call, so that the queue is not
 * destroyed during the poll.
 */
public abstract sealed class CompletionPoller permits CompletionPoller.Plain, ExtendedPoller {

    CompletionPoller() {}

    /**
     * Polls completions into a batch. Returns the number of completions, or a negative number on
     * failure.
     */
    public abstract int poll(WorkCompletions batch);

    /** Returns a poller for a completion queue that was created by {@code ibv_create_cq}. */
    public static CompletionPoller plain(PostAndPollFunctions hotPath, long queue) {
        return new Plain(hotPath, queue);
    }

    /**
     * Returns a poller for a completion queue that was created by {@code ibv_create_cq_ex}.
     *
     * @param fields the fields that the completions of the queue report
     * @param oneByOne true if each native poll must end after one completion
     */
    public static CompletionPoller extended(
            PostAndPollFunctions hotPath,
            MemorySegment queue,
            Set<CompletionField> fields,
            boolean oneByOne) {
        return new ExtendedPoller(
                hotPath, queue, VerbsEnumCodes.COMPLETION_FIELD.bits(fields), oneByOne);
    }

    private static final class Plain extends CompletionPoller {

        private final PostAndPollFunctions hotPath;
        private final long queue;

        Plain(PostAndPollFunctions hotPath, long queue) {
            this.hotPath = hotPath;
            this.queue = queue;
        }

        @Override
        public int poll(WorkCompletions batch) {
            return hotPath.poll(queue, batch.capacity(), batch.address());
        }
    }
}
