package org.jrdma.verbs.queue;

import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.verbs.internal.WorkCompletions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes the transfers of a completion queue, on the thread that waits for all descriptors. It
 * refers to no API object, so that a dispatcher that a program forgot is reported.
 */
public final class DispatchLoop {

    private static final Logger LOG = LoggerFactory.getLogger(DispatchLoop.class);
    private static final int BATCH = 64;

    /** How many batches are taken before other queues have their turn. */
    private static final int POLLS = 8;

    private final NativeCompletionQueue<AsyncWorkQueue> queue;
    private final CompletionTable<AsyncWorkQueue> table;
    private final WorkCompletions batch;
    private final DescriptorWaiter waiter;

    private DispatchLoop(NativeCompletionQueue<AsyncWorkQueue> queue) throws FabricException {
        this.queue = queue;
        this.table = queue.attachments().table();
        this.batch = new WorkCompletions(Math.min(BATCH, queue.attachments().capacity()));
        this.waiter = queue.newWaiter(descriptor -> DescriptorWaiter.watch(descriptor, this::run));
    }

    /** Starts to dispatch the completions of a queue, until the queue is closed. */
    public static void start(NativeCompletionQueue<AsyncWorkQueue> queue) throws FabricException {
        var loop = new DispatchLoop(queue);
        queue.arm();
        loop.waiter.arm();
    }

    /**
     * Dispatches available completions, and requests the next event of the queue. No more than a
     * few batches at a time: all other descriptors wait for this thread. close() waits for it, by
     * closing the waiter.
     */
    private void run() {
        try {
            queue.takeEvents();
            var isEmpty = dispatchSome();
            if (isEmpty) {
                queue.arm();
                isEmpty = dispatchSome(); // no event reports a completion from before the arming
            }
            if (isEmpty) {
                waiter.arm();
            } else {
                waiter.again();
            }
        } catch (FabricException | RuntimeException e) {
            if (!queue.lifetime().isClosed()) {
                LOG.error("The dispatcher of {} has stopped", queue.lifetime(), e);
                table.forEach(work -> work.fail(e));
                queue.attachments().shared().forEach(work -> work.fail(e));
            }
        }
    }

    /** Returns whether it found the queue empty. */
    private boolean dispatchSome() {
        // A stage that runs for a completion on this thread may close the queue.
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
                transfer.complete(CompletionDecoder.decode(batch, index, work));
            } finally {
                work.returnSlot();
            }
        } else if (work != null) {
            LOG.warn("{} has a completion that no transfer waits for", queue.lifetime());
        }
    }
}
