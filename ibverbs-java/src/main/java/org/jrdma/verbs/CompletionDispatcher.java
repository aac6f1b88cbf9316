package org.jrdma.verbs;

import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.verbs.internal.WorkCompletions;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A completion queue that the SDK polls: the tier of operations that are awaited. Each operation of
 * a {@link AsyncQueuePair} is a {@link Transfer}.
 *
 * <p>Owned by its {@link Device}. Closing it closes the queue pairs that complete into it. Safe for
 * use by several threads. In C: {@code struct ibv_cq} with a {@code struct ibv_comp_channel};
 * {@link #close()} is {@code ibv_destroy_cq}, {@code ibv_destroy_comp_channel}.
 */
@SuppressWarnings("exports") // the type argument is for this package
public final class CompletionDispatcher extends CompletionSource<AsyncWorkQueue> {

    private static final Logger LOG = LoggerFactory.getLogger(CompletionDispatcher.class);
    private static final int BATCH = 64;

    /** How many batches are taken before other queues have their turn. */
    private static final int POLLS = 8;

    CompletionDispatcher(Device device, int capacity) throws VerbsException {
        super(device, CompletionQueueOptions.capacity(capacity).waitable(), device.sharedAsync());
        try {
            new Loop(nativeQueue(), attachments(), Math.min(BATCH, capacity)).start();
        } catch (FabricException e) {
            close();
            throw new VerbsException("ibv_req_notify_cq", e.getMessage());
        }
    }

    /**
     * What the thread that waits for all descriptors runs. It refers to no NativeObject, so that a
     * forgotten one is found.
     */
    private static final class Loop {

        private final NativeCompletionQueue queue;
        private final Attachments<AsyncWorkQueue> attachments;
        private final CompletionTable<AsyncWorkQueue> table;
        private final WorkCompletions batch;
        private final DescriptorWaiter waiter;

        Loop(NativeCompletionQueue queue, Attachments<AsyncWorkQueue> attachments, int batch)
                throws FabricException {
            this.queue = queue;
            this.attachments = attachments;
            this.table = attachments.table();
            this.batch = new WorkCompletions(batch);
            this.waiter =
                    queue.newWaiter(descriptor -> DescriptorWaiter.watch(descriptor, this::run));
        }

        void start() throws FabricException {
            queue.arm();
            waiter.arm();
        }

        /**
         * Dispatches what there is, and asks the queue for its next event. No more than a few
         * batches at a time: all other descriptors wait for this thread. close() waits for it, by
         * closing the waiter.
         */
        private void run() {
            try {
                queue.takeEvents();
                var isEmpty = dispatchSome();
                if (isEmpty) {
                    queue.arm();
                    isEmpty = dispatchSome(); // what came before is told by no event
                }
                if (isEmpty) {
                    waiter.arm();
                } else {
                    waiter.again();
                }
            } catch (FabricException | RuntimeException e) {
                if (!queue.lifetime().isClosed()) {
                    LOG.error("{} hears of no more completions", queue.lifetime(), e);
                    table.forEach(work -> work.fail(e));
                    attachments.shared().forEach(work -> work.fail(e));
                }
            }
        }

        /** Whether it found the queue empty. */
        private boolean dispatchSome() {
            // What is run for a completion on this thread may close the queue.
            for (var polls = 0; polls < POLLS && !queue.lifetime().isClosed(); polls++) {
                var count = queue.poll(batch);
                if (count == 0) {
                    return true;
                }
                for (var index = 0; index < count; index++) {
                    dispatch(index);
                }
            }
            return false;
        }

        private void dispatch(int index) {
            var number = batch.requestNumber(index);
            var work = table.find(number);
            var transfer = work == null ? null : work.complete((int) number);
            if (transfer != null) {
                try {
                    transfer.complete(Completion.of(batch, index, work));
                } finally {
                    work.returnSlot();
                }
            } else if (work != null) {
                LOG.warn("{} has a completion that nobody waits for", queue.lifetime());
            }
        }
    }
}
