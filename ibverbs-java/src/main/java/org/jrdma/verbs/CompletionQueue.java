package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Set;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.internal.WorkCompletions;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jrdma.verbs.queue.PolledSharedReceiveSlots;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue that the program polls through {@linkplain CompletionCursor cursors}, for the
 * lowest latency.
 *
 * <p>Owned by its {@link Device}. Closing it closes the queue pairs that complete into it. Safe for
 * use by multiple threads, each with its own cursor. However, only one thread at a time may poll
 * completions of the same send queue, receive queue or shared receive queue. In C: {@code struct
 * ibv_cq}, with a {@code struct ibv_comp_channel} of its own if it is waitable; {@link #close()} is
 * {@code ibv_destroy_cq}, {@code ibv_destroy_comp_channel}.
 */
public final class CompletionQueue extends NativeObject {

    /**
     * Keeps the device reachable while this queue is open: an open device that becomes unreachable
     * would be reported as a leak.
     */
    @SuppressWarnings("unused")
    private final DeviceHandle device;

    private final NativeCompletionQueue<PolledWorkQueueSlots> nativeQueue;
    private final @Nullable DescriptorWaiter waiter;
    private final Set<CompletionField> fields;

    CompletionQueue(DeviceHandle device, NativeCompletionQueue.Config config)
            throws VerbsException {
        this(
                device,
                config,
                NativeCompletionQueue.create(device, config, PolledSharedReceiveSlots.TABLE));
    }

    private CompletionQueue(
            DeviceHandle device,
            NativeCompletionQueue.Config config,
            NativeCompletionQueue<PolledWorkQueueSlots> nativeQueue)
            throws VerbsException {
        super(nativeQueue.address(), nativeQueue.lifetime());
        this.device = device;
        this.nativeQueue = nativeQueue;
        this.fields = config.fields();
        device.events().register(this);
        try {
            this.waiter = config.withEvents() ? nativeQueue.newWaiter(DescriptorWaiter::on) : null;
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
     * Moderates events: a waiting thread wakes up after {@code completions} completions have
     * arrived, or {@code atMost} after the first of them. A value of 0 disables the respective
     * condition. If both values are 0, which is the default, each completion raises an event. In C:
     * {@code ibv_modify_cq}.
     *
     * @param atMost the maximum delay of an event, in whole microseconds
     * @throws IllegalArgumentException if {@code completions} or the number of microseconds is
     *     negative or above 65,535
     * @throws VerbsException if the device does not support moderation or these values
     */
    public void moderate(int completions, Duration atMost) throws VerbsException {
        nativeQueue.moderate(completions, atMost);
    }

    /**
     * Creates a cursor that is confined to the current thread.
     *
     * @param batch the maximum number of completions of one poll, at most 65,536
     */
    public CompletionCursor newCursor(int batch) {
        FieldRangeChecks.check("batch size", batch, 1, WorkCompletions.MAX_CAPACITY);
        return new CompletionCursor(this, batch);
    }

    /**
     * Changes the capacity. In C: {@code ibv_resize_cq}.
     *
     * @throws VerbsException if the device does not support resizing, or if the queue contains more
     *     completions than {@code newCapacity}
     * @throws IllegalArgumentException if {@code newCapacity} is less than the capacity that is
     *     reserved for existing queue pairs
     */
    public void resize(int newCapacity) throws VerbsException {
        nativeQueue.resize(newCapacity);
    }

    /** The fields that the completions of this queue have. */
    Set<CompletionField> fields() {
        return fields;
    }

    /**
     * Returns a ticket for {@link #awaitEvent}.
     *
     * @throws IllegalStateException if the queue was created without a completion channel
     */
    long ticket() {
        return waiter().ticket();
    }

    /** Ends the waits of all cursors of this queue; each cursor then decides if it waits again. */
    void wakeWaiters() {
        waiter().wake();
    }

    private DescriptorWaiter waiter() {
        if (waiter == null) {
            throw new IllegalStateException(
                    this + " was created without events. Call waitable() on its options.");
        }
        return waiter;
    }

    /**
     * Consumes all pending events. Wakes up all threads in {@link #awaitEvent} if there was an
     * event.
     */
    void takeEvents() throws VerbsException {
        if (nativeQueue.takeEvents()) {
            waiter.wake();
        }
    }

    /**
     * Waits until an event has arrived since the ticket was obtained. Returns false if the deadline
     * passes first.
     */
    boolean awaitEvent(long ticket, Deadline deadline)
            throws FabricException, InterruptedIOException {
        try {
            return waiter.await(ticket, deadline);
        } catch (IllegalStateException e) {
            throw lifetime().closedException();
        }
    }

    NativeCompletionQueue<PolledWorkQueueSlots> nativeQueue() {
        return nativeQueue;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
