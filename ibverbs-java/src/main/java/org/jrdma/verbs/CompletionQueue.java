package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.Set;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.DescriptorWaiter;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.VerbsException;
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
@SuppressWarnings("exports") // the type argument is for this package
public final class CompletionQueue extends CompletionSource<PolledWorkQueue> {

    private final @Nullable DescriptorWaiter waiter;
    private final Set<CompletionField> fields;

    CompletionQueue(Device device, CompletionQueueOptions options) throws VerbsException {
        super(device, options, device.sharedPolled());
        this.fields = options.fields();
        try {
            this.waiter =
                    options.withEvents() ? nativeQueue().newWaiter(DescriptorWaiter::on) : null;
        } catch (VerbsException e) {
            close();
            throw e;
        }
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
        attachments().resize(newCapacity, this, nativeQueue());
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
        if (nativeQueue().takeEvents()) {
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
}
