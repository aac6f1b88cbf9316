package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledSharedReceives;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jspecify.annotations.Nullable;

/**
 * A shared receive queue whose user prepares receives, posts them, and polls the {@link
 * CompletionQueue}s of its queue pairs: nothing is allocated, locked or waited for.
 *
 * <p>Receives are prepared and posted by one thread, the first to prepare one; it need not be one
 * of those that poll, and each completion queue may be polled by another. A completion has the
 * number that was given to the receive, and the queue pair's.
 */
public final class PolledSharedReceiveQueue extends SharedReceiveQueue {

    private final NativeSharedReceiveQueue<PolledWorkQueue> nativeQueue;
    private final PolledPost<PolledSharedReceives> receives;

    /**
     * @param named of a queue that senders name; null for one that is given to queue pairs
     */
    PolledSharedReceiveQueue(
            DomainHandle domain,
            int capacity,
            int elements,
            NativeSharedReceiveQueue.@Nullable Named<PolledWorkQueue> named)
            throws VerbsException {
        this(domain, elements, new PolledSharedReceives(capacity), named);
    }

    private PolledSharedReceiveQueue(
            DomainHandle domain,
            int elements,
            PolledSharedReceives receives,
            NativeSharedReceiveQueue.@Nullable Named<PolledWorkQueue> named)
            throws VerbsException {
        this(
                receives,
                NativeSharedReceiveQueue.create(
                        domain,
                        elements,
                        receives,
                        receives.sharing(),
                        PolledSharedReceives.TABLE,
                        named,
                        () -> {}));
    }

    private PolledSharedReceiveQueue(
            PolledSharedReceives receives, NativeSharedReceiveQueue<PolledWorkQueue> nativeQueue) {
        super(nativeQueue);
        this.nativeQueue = nativeQueue;
        this.receives = PolledPost.toShared(this, nativeQueue, receives);
    }

    /** A place to receive a message into. */
    public PreparedReceive prepareReceive(MemorySlice local) {
        return prepareReceive(List.of(local));
    }

    /** Places to receive a message into; none, to hear of a write with immediate data. */
    public PreparedReceive prepareReceive(List<MemorySlice> local) {
        return new PreparedReceive(receives, local);
    }

    /** Receives to be posted by one call. */
    public PreparedRequest.Chain prepareChain(PreparedReceive... requests) {
        return new PreparedRequest.Chain(requests);
    }

    /** How many receives can be posted now. For the thread that posts them. */
    public int freeReceives() {
        return receives.queue().freeSlots();
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
    public void resize(int newCapacity) throws VerbsException {
        var slots = receives.queueOfThisThread();
        if (slots.outstanding() > newCapacity) {
            throw nativeQueue.tooSmall(newCapacity, slots.outstanding());
        }
        nativeQueue.resize(newCapacity, () -> slots.resize(newCapacity));
    }

    NativeSharedReceiveQueue<PolledWorkQueue> nativeQueue() {
        return nativeQueue;
    }
}
