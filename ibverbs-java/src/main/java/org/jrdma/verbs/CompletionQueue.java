package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Set;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.jrdma.verbs.queue.PolledSharedReceives;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jspecify.annotations.Nullable;

/**
 * A completion queue that the program polls through cursors, for lowest latency.
 *
 * <p>Owned by its {@link Device}. Closing it closes the queue pairs that complete into it. Safe for
 * use by multiple threads, each with its own cursor. However, only one thread at a time may poll
 * the completions of a given work queue. In C: {@code struct ibv_cq}, with a {@code struct
 * ibv_comp_channel} of its own if it is waitable; {@link #close()} is {@code ibv_destroy_cq},
 * {@code ibv_destroy_comp_channel}.
 */
public final class CompletionQueue extends NativeObject {

    /** Keeps the device reachable. */
    @SuppressWarnings("unused")
    private final DeviceHandle device;

    private final NativeCompletionQueue<PolledWorkQueue> nativeQueue;
    private final @Nullable DescriptorWaiter waiter;
    private final Set<CompletionField> fields;

    CompletionQueue(DeviceHandle device, NativeCompletionQueue.Config config)
            throws VerbsException {
        this(
                device,
                config,
                NativeCompletionQueue.create(device, config, PolledSharedReceives.TABLE));
    }

    private CompletionQueue(
            DeviceHandle device,
            NativeCompletionQueue.Config config,
            NativeCompletionQueue<PolledWorkQueue> nativeQueue)
            throws VerbsException {
        super(nativeQueue.address(), nativeQueue.lifetime());
        this.device = device;
        this.nativeQueue = nativeQueue;
        this.fields = config.fields();
        device.events().register(this);
        try {
            this.waiter = config.withEvents() ? nativeQueue.newWaiter(DescriptorWaiter::on) : null;
        } catch (VerbsException e) {
            close();
            throw e;
        }
    }

    /** The requested capacity in completions. The device may provide more. */
    public int capacity() {
        return nativeQueue.attachments().capacity();
    }

    /** The number of requests that further queue pairs can have without overrunning this queue. */
    public int remainingCapacity() {
        return nativeQueue.attachments().remainingCapacity();
    }

    /**
     * Moderates events: a waiting thread wakes up after {@code completions} completions have
     * arrived, or {@code atMost} after the first one. A value of 0 disables that condition. If both
     * are 0, each completion raises an event, which is the default. In C: {@code ibv_modify_cq}.
     *
     * @param atMost the maximum delay of an event, in whole microseconds
     * @throws IllegalArgumentException if either is negative or above 65,535
     * @throws VerbsException if the device does not support moderation or these values
     */
    public void moderate(int completions, Duration atMost) throws VerbsException {
        nativeQueue.moderate(completions, atMost);
    }

    /**
     * Creates a cursor that is confined to the current thread.
     *
     * @param batch the maximum number of completions of one poll
     */
    public CompletionCursor newCursor(int batch) {
        if (batch < 1) {
            throw new IllegalArgumentException(
                    "The batch size must be at least 1, but is " + batch);
        }
        return new CompletionCursor(this, batch);
    }

    /**
     * Changes the capacity. In C: {@code ibv_resize_cq}.
     *
     * @throws VerbsException if the device does not support resizing, or if the queue contains more
     *     completions
     * @throws IllegalArgumentException if the queue pairs that complete into this queue may need
     *     more
     */
    public void resize(int newCapacity) throws VerbsException {
        nativeQueue.resize(newCapacity);
    }

    /** The fields of its completions. */
    Set<CompletionField> fields() {
        return fields;
    }

    /** A ticket for {@link #awaitEvent}, to be obtained before arming the queue. */
    long ticket() {
        if (waiter == null) {
            throw new IllegalStateException(
                    this + " was created without events. Call waitable() on its options.");
        }
        return waiter.ticket();
    }

    /** Consumes all pending events and wakes up all threads that wait for one. */
    void takeEvents() throws VerbsException {
        if (nativeQueue.takeEvents()) {
            waiter.wake();
        }
    }

    /** Waits for an event after the ticket was obtained. Returns false on timeout. */
    boolean awaitEvent(long ticket, Deadline deadline)
            throws FabricException, InterruptedIOException {
        try {
            return waiter.await(ticket, deadline);
        } catch (IllegalStateException e) {
            throw lifetime().closedException();
        }
    }

    NativeCompletionQueue<PolledWorkQueue> nativeQueue() {
        return nativeQueue;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }
}
