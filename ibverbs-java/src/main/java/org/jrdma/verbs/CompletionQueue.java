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
 * A completion queue that its user polls, through cursors: the tier for those who count
 * nanoseconds.
 *
 * <p>Owned by its {@link Device}. Closing it closes the queue pairs that complete into it. Safe for
 * use by several threads, each with a cursor of its own; but the completions of one work queue must
 * be taken by one thread at a time. In C: {@code struct ibv_cq}, with a {@code struct
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

    CompletionQueue(DeviceHandle device, NativeCompletionQueue.Wanted wanted)
            throws VerbsException {
        this(
                device,
                wanted,
                NativeCompletionQueue.create(device, wanted, PolledSharedReceives.TABLE));
    }

    private CompletionQueue(
            DeviceHandle device,
            NativeCompletionQueue.Wanted wanted,
            NativeCompletionQueue<PolledWorkQueue> nativeQueue)
            throws VerbsException {
        super(nativeQueue.address(), nativeQueue.lifetime());
        this.device = device;
        this.nativeQueue = nativeQueue;
        this.fields = wanted.fields();
        device.events().announce(this);
        try {
            this.waiter = wanted.withEvents() ? nativeQueue.newWaiter(DescriptorWaiter::on) : null;
        } catch (VerbsException e) {
            close();
            throw e;
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

    /**
     * A cursor for the current thread, which alone may use it.
     *
     * @param batch how many completions one poll takes at most
     */
    public CompletionCursor newCursor(int batch) {
        if (batch < 1) {
            throw new IllegalArgumentException("A poll takes at least one completion: " + batch);
        }
        return new CompletionCursor(this, batch);
    }

    /**
     * Changes how many completions there is room for. In C: {@code ibv_resize_cq}.
     *
     * @throws VerbsException if the device cannot, or if more completions are in it
     * @throws IllegalArgumentException if queue pairs that complete here may need more
     */
    public void resize(int newCapacity) throws VerbsException {
        nativeQueue.resize(newCapacity);
    }

    /** What its completions tell. */
    Set<CompletionField> fields() {
        return fields;
    }

    /** What {@link #awaitEvent} needs, taken before the queue is armed. */
    long ticket() {
        if (waiter == null) {
            throw new IllegalStateException(
                    this + " was made without events; ask for waitable() in its options");
        }
        return waiter.ticket();
    }

    /** Takes the events there are. One may be what another thread armed the queue for. */
    void takeEvents() throws VerbsException {
        if (nativeQueue.takeEvents()) {
            waiter.wake();
        }
    }

    /** Waits for an event since the ticket was taken; false when the time is over. */
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
