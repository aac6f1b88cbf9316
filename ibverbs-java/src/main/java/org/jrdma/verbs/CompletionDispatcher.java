package org.jrdma.verbs;

import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.AsyncSharedReceives;
import org.jrdma.verbs.queue.AsyncWorkQueue;
import org.jrdma.verbs.queue.DispatchLoop;
import org.jrdma.verbs.queue.NativeCompletionQueue;

/**
 * A completion queue that the SDK polls: the tier of operations that are awaited. Each operation of
 * a {@link AsyncQueuePair} is a {@link Transfer}.
 *
 * <p>Owned by its {@link Device}. Closing it closes the queue pairs that complete into it. Safe for
 * use by several threads. In C: {@code struct ibv_cq} with a {@code struct ibv_comp_channel};
 * {@link #close()} is {@code ibv_destroy_cq}, {@code ibv_destroy_comp_channel}.
 */
public final class CompletionDispatcher extends NativeObject {

    /** Keeps the device reachable. */
    @SuppressWarnings("unused")
    private final DeviceHandle device;

    private final NativeCompletionQueue<AsyncWorkQueue> nativeQueue;

    CompletionDispatcher(DeviceHandle device, int capacity) throws VerbsException {
        this(
                device,
                NativeCompletionQueue.create(
                        device,
                        NativeCompletionQueue.Wanted.withEvents(capacity),
                        AsyncSharedReceives.TABLE));
    }

    private CompletionDispatcher(
            DeviceHandle device, NativeCompletionQueue<AsyncWorkQueue> nativeQueue)
            throws VerbsException {
        super(nativeQueue.address(), nativeQueue.lifetime());
        this.device = device;
        this.nativeQueue = nativeQueue;
        device.events().announce(this);
        try {
            DispatchLoop.start(nativeQueue);
        } catch (FabricException e) {
            close();
            throw new VerbsException("ibv_req_notify_cq", e.getMessage());
        }
    }

    /** How many completions it has room for, as asked; the device may give it more. */
    public int capacity() {
        return nativeQueue.attachments().capacity();
    }

    /**
     * How many requests may still be given to queue pairs that complete here, so that none can
     * overrun it.
     */
    public int room() {
        return nativeQueue.attachments().room();
    }

    /**
     * Moderates events: a waiting thread is woken when this number of completions has arrived, or
     * when the first has waited so long; 0 of either means that it does not count. Of both, that
     * each completion wakes, as at first. In C: {@code ibv_modify_cq}.
     *
     * @param atMost in whole microseconds
     * @throws IllegalArgumentException if either is negative or above 65,535
     * @throws VerbsException if the device cannot, or not with these numbers
     */
    public void moderate(int completions, Duration atMost) throws VerbsException {
        nativeQueue.moderate(completions, atMost);
    }

    NativeCompletionQueue<AsyncWorkQueue> nativeQueue() {
        return nativeQueue;
    }
}
