package org.jrdma.verbs.queue;

import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.PollingBudget;
import org.jrdma.verbs.internal.WorkCompletions;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls a completion queue and completes the transfers of its requests. Runs on the polling thread
 * of {@code DescriptorWaiter} whenever the completion channel is readable, and continues to poll
 * for a short time after a completion, because an event takes several system calls. Holds no
 * reference to an API object, so that a dispatcher that was not closed becomes unreachable and is
 * reported as a leak.
 */
public final class DispatchLoop {

    private static final Logger LOG = LoggerFactory.getLogger(DispatchLoop.class);
    private static final int BATCH = 64;

    /**
     * The maximum number of batches that one call of run() processes before the thread serves other
     * descriptors.
     */
    private static final int POLLS = 8;

    /** The maximum number of pauses between polls before the thread serves other descriptors. */
    private static final int PAUSES = 16;

    private final NativeCompletionQueue<AsyncWorkQueueSlots> queue;
    private final CompletedRequestQueueLookup<AsyncWorkQueueSlots> table;
    private final WorkCompletions batch;
    private final DescriptorWaiter waiter;
    private final PollingBudget polling = PollingBudget.ofThisProcess();

    /** The number of completions so far. */
    private long dispatched;

    /** The number of completions in the batch, and the index of the first to be dispatched. */
    private int count;

    private int next;

    private DispatchLoop(NativeCompletionQueue<AsyncWorkQueueSlots> queue) throws VerbsException {
        this.queue = queue;
        this.table = queue.reservations().table();
        this.batch = new WorkCompletions(Math.min(BATCH, queue.reservations().capacity()));
        this.waiter = queue.newWaiter(descriptor -> DescriptorWaiter.watch(descriptor, this::run));
    }

    /** Starts to dispatch the completions of a queue. The loop stops when the queue is closed. */
    public static void start(NativeCompletionQueue<AsyncWorkQueueSlots> queue)
            throws VerbsException {
        var loop = new DispatchLoop(queue);
        queue.arm();
        try {
            loop.waiter.arm();
        } catch (FabricException e) {
            throw new VerbsException("ibv_req_notify_cq", e.getMessage());
        }
    }

    /**
     * Dispatches available completions, and arms the queue if no more are expected soon. Limits its
     * duration, because this thread serves all descriptors. close() closes the waiter, which waits
     * until this method has returned.
     */
    private void run() {
        try {
            if (dispatchUntilIdle()) {
                queue.takeEvents();
                queue.arm();
                // Completions that arrived before arm() cause no event, so the queue is polled
                // again.
                if (dispatchSome()) {
                    waiter.arm();
                    return;
                }
            }
            waiter.callAgain();
        } catch (VirtualMachineError e) {
            throw e; // The waiter calls this method again, which continues where it ended.
        } catch (FabricException | RuntimeException e) {
            fail(e);
        } catch (Throwable e) {
            fail(new IllegalStateException(e));
        }
    }

    private void fail(Exception e) {
        if (!queue.lifetime().isClosed()) {
            LOG.error("The dispatcher of {} has stopped", queue.lifetime(), e);
            queue.reservations().failAll(work -> work.fail(e));
            queue.reservations().shared().forEach(work -> work.fail(e));
        }
    }

    /** Dispatches completions. Returns true if it is not worthwhile to poll for the next one. */
    private boolean dispatchUntilIdle() {
        for (var pauses = 0; pauses < PAUSES && dispatchSome(); pauses++) {
            if (!polling.permitsPolling(dispatched, System.nanoTime())) {
                return true;
            }
            PollingBudget.pause(pauses);
        }
        return false;
    }

    /**
     * Dispatches at most {@link #POLLS} batches. Returns true if the last poll found the queue
     * empty.
     */
    private boolean dispatchSome() {
        // The loop checks for a close, because a dependent stage of a transfer runs on this thread
        // and may close the queue.
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
     * Dispatches a completion. All operations that need memory precede the removal of the transfer,
     * so that this method can be repeated after an {@link OutOfMemoryError}.
     */
    private void dispatchNext() {
        var number = batch.requestNumber(next);
        var work = table.find(number);
        var completion = CompletionDecoder.decode(batch, next, work);
        var transfer = work == null ? null : work.complete((int) number);
        next++;
        dispatched++;
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
