package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A shared receive queue whose user prepares receives, posts them, and polls the {@link
 * CompletionQueue}s of its queue pairs: nothing is allocated, locked or waited for.
 *
 * <p>Receives are prepared and posted by one thread, the first to prepare one; it need not be one
 * of those that poll, and each completion queue may be polled by another. A completion has the
 * number that was given to the receive, and the queue pair's.
 */
public sealed class PolledSharedReceiveQueue extends SharedReceiveQueue
        permits PolledXrcSharedReceiveQueue {

    private final PolledSharedReceives receives;
    private @Nullable Thread receiver;

    PolledSharedReceiveQueue(ProtectionDomain domain, int capacity, int elements)
            throws VerbsException {
        this(domain, elements, new PolledSharedReceives(capacity), null);
    }

    PolledSharedReceiveQueue(
            ProtectionDomain domain,
            int elements,
            PolledSharedReceives receives,
            @Nullable Named<PolledWorkQueue> named)
            throws VerbsException {
        super(
                domain,
                elements,
                make(domain, elements, domain.device().sharedPolled(), receives, named, () -> {}));
        this.receives = receives;
    }

    /** A place to receive a message into. */
    public final PreparedReceive prepareReceive(MemorySlice local) {
        return prepareReceive(List.of(local));
    }

    /** Places to receive a message into; none, to hear of a write with immediate data. */
    public final PreparedReceive prepareReceive(List<MemorySlice> local) {
        return new PreparedReceive(this, local);
    }

    /** Receives to be posted by one call. */
    public final PreparedChain prepareChain(PreparedReceive... requests) {
        return new PreparedChain(requests);
    }

    /** How many receives can be posted now. For the thread that posts them. */
    public final int freeReceives() {
        return receives.freeSlots();
    }

    /**
     * Changes how many receives there is room for. For the thread that posts them. In C: {@code
     * ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}.
     *
     * @throws IllegalArgumentException if more are posted and not completed, or if a completion
     *     queue that they may complete into has no room for so many
     * @throws VerbsException if the device cannot: see {@link
     *     DeviceCapability#RESIZE_SHARED_RECEIVE_QUEUE}
     */
    public final void resize(int newCapacity) throws VerbsException {
        var slots = receivesOfThisThread();
        if (slots.outstanding() > newCapacity) {
            throw tooSmall(newCapacity, slots.outstanding());
        }
        resize(newCapacity, () -> slots.resize(newCapacity));
    }

    /** The slots of its receives, for the one thread that may use them: the first to ask. */
    final synchronized PolledSharedReceives receivesOfThisThread() {
        receiver = PolledEnd.claim(receiver, "receives", this);
        return receives;
    }

    @Override
    final Sharing<PolledWorkQueue> sharing() {
        return receives.sharing();
    }
}
