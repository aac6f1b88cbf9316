package org.jrdma.verbs.queue;

import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.verbs.internal.WorkCompletions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes the transfers of a completion queue, on the thread that waits for all descriptors.
 * Holds no reference to an API object, so that an unclosed dispatcher becomes unreachable and is
 * reported.
 */
public final class DispatchLoop {

    private static final Logger LOG = LoggerFactory.getLogger(DispatchLoop.class);
    private static final int BATCH = 64;

    /** The maximum number of batches before other queues are served. */
    private static final int POLLS = 8;

    private final NativeCompletionQueue<AsyncWorkQueue> queue;
    private final CompletionTable<AsyncWorkQueue> table;
    private final WorkCompletions batch;
    private final DescriptorWaiter waiter;

    /** The number of completions in the batch, and the index of the first to be dispatched. */
    private int count;

    private int next;

    private DispatchLoop(NativeCompletionQueue<AsyncWorkQueue> queue) throws FabricException {
        this.queue = queue;
        this.table = queue.attachments().table();
        this.batch = new WorkCompletions(Math.min(BATCH, queue.attachments().capacity()));
        this.waiter = queue.newWaiter(descriptor -> DescriptorWaiter.watch(descriptor, this::run));
    }

    /** Starts to dispatch the completions of a queue. Stops when the queue is closed. */
    public static void start(NativeCompletionQueue<AsyncWorkQueue> queue) throws FabricException {
        var loop = new DispatchLoop(queue);
        queue.arm();
        loop.waiter.arm();
    }

    /**
     * Dispatches available completions and arms the queue. Processes only a few batches at a time,
     * because this thread serves all descriptors. close() closes the waiter and thus waits for this
     * method.
     */
    private void run() {
        try {
            queue.takeEvents();
            var isEmpty = dispatchSome();
            if (isEmpty) {
                queue.arm();
                isEmpty = dispatchSome(); // completions from before the arming cause no event
            }
            if (isEmpty) {
                waiter.arm();
            } else {
                waiter.callAgain();
            }
        } catch (VirtualMachineError e) {
            throw e; // the waiter repeats this method, which continues where it ended
        } catch (FabricException | RuntimeException e) {
            fail(e);
        } catch (Throwable e) {
            fail(new IllegalStateException(e));
        }
    }

    private void fail(Exception e) {
        if (!queue.lifetime().isClosed()) {
            LOG.error("The dispatcher of {} has stopped", queue.lifetime(), e);
            table.forEach(work -> work.fail(e));
            queue.attachments().shared().forEach(work -> work.fail(e));
        }
    }

    /** Returns true if the queue was empty. */
    private boolean dispatchSome() {
        // A stage that runs for a completion on this thread may close the queue.
        for (var polls = 0; polls < POLLS && !queue.lifetime().isClosed(); polls++) {
            if (next == count) {
                next = 0;
                count = queue.poll(batch);
                if (count == 0) {
                    return true;
                }
            }
            while (next < count) {
                dispatchNext();
            }
        }
        return false;
    }

    /**
     * Dispatches a completion. Everything that needs memory precedes the removal of the transfer,
     * so that this method can be repeated after an {@link OutOfMemoryError}.
     */
    private void dispatchNext() {
        var number = batch.requestNumber(next);
        var work = table.find(number);
        var completion = CompletionDecoder.decode(batch, next, work);
        var transfer = work == null ? null : work.complete((int) number);
        next++;
        if (transfer != null) {
            try {
                transfer.complete(completion);
            } finally {
                work.returnSlot();
            }
        } else if (work != null) {
            LOG.warn("{} has a completion without a transfer in flight", queue.lifetime());
        }
    }
}
