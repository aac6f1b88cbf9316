package org.jrdma.verbs;

import java.time.Duration;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.AsyncSharedReceiveSlots;
import org.jrdma.verbs.queue.AsyncWorkQueueSlots;
import org.jrdma.verbs.queue.DispatchLoop;
import org.jrdma.verbs.queue.NativeCompletionQueue;

/**
 * A completion queue for asynchronous queue pairs, which the SDK polls on a background thread. The
 * dispatcher completes the {@link Transfer}s of these queue pairs.
 *
 * <p>Owned by its {@link Device}. Closing it closes the queue pairs that complete into it. Safe for
 * use by multiple threads. In C: {@code struct ibv_cq} with a {@code struct ibv_comp_channel};
 * {@link #close()} is {@code ibv_destroy_cq}, {@code ibv_destroy_comp_channel}.
 */
public final class CompletionDispatcher extends NativeObject {

    /**
     * Keeps the device reachable while this dispatcher is open: an open device that becomes
     * unreachable would be reported as a leak.
     */
    @SuppressWarnings("unused")
    private final DeviceHandle device;

    private final NativeCompletionQueue<AsyncWorkQueueSlots> nativeQueue;

    CompletionDispatcher(DeviceHandle device, NativeCompletionQueue.Config config)
            throws VerbsException {
        this(device, NativeCompletionQueue.create(device, config, AsyncSharedReceiveSlots.TABLE));
    }

    private CompletionDispatcher(
            DeviceHandle device, NativeCompletionQueue<AsyncWorkQueueSlots> nativeQueue)
            throws VerbsException {
        super(nativeQueue.address(), nativeQueue.lifetime());
        this.device = device;
        this.nativeQueue = nativeQueue;
        device.events().register(this);
        try {
            DispatchLoop.start(nativeQueue);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /** The requested capacity in completions. The device may provide a larger capacity. */
    public int capacity() {
        return nativeQueue.reservations().capacity();
    }

    /**
     * The capacity in completions that is not reserved for existing queue pairs. New queue pairs
     * with this number of requests in total cannot overrun the queue.
     */
    public int remainingCapacity() {
        return nativeQueue.reservations().remainingCapacity();
    }

    /**
     * Moderates events: the dispatcher wakes up only after {@code completions} completions have
     * arrived, or {@code atMost} after the first of them; see {@link CompletionQueue#moderate}. In
     * C: {@code ibv_modify_cq}.
     *
     * @param atMost the maximum delay of an event, in whole microseconds
     * @throws IllegalArgumentException if {@code completions} or the number of microseconds is
     *     negative or above 65,535
     * @throws VerbsException if the device does not support moderation or these values
     */
    public void moderate(int completions, Duration atMost) throws VerbsException {
        nativeQueue.moderate(completions, atMost);
    }

    NativeCompletionQueue<AsyncWorkQueueSlots> nativeQueue() {
        return nativeQueue;
    }
}
