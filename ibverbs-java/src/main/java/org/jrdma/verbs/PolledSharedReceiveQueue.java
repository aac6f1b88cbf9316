package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jrdma.verbs.queue.PolledSharedReceiveSlots;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;
import org.jspecify.annotations.Nullable;

/**
 * A shared receive queue for prepared requests and polled {@link CompletionQueue}s. Posting and
 * polling do not allocate, lock or wait.
 *
 * <p>Receives must be prepared and posted by one thread: the first one that prepares a receive.
 * Other threads may poll the completion queues. A completion contains the id of the receive and the
 * number of the queue pair that consumed it.
 */
public final class PolledSharedReceiveQueue extends SharedReceiveQueue {

    private final NativeSharedReceiveQueue<PolledWorkQueueSlots> nativeQueue;
    private final PostTarget<PolledSharedReceiveSlots> receives;

    /**
     * @param xrc the XRC domain and completion queue of an XRC shared receive queue; null for other
     *     shared receive queues
     */
    PolledSharedReceiveQueue(
            DomainHandle domain,
            SharedReceiveQueueOptions options,
            NativeSharedReceiveQueue.@Nullable XrcBinding<PolledWorkQueueSlots> xrc)
            throws VerbsException {
        this(
                domain,
                options.elements,
                new PolledSharedReceiveSlots(
                        NativeSharedReceiveQueue.checkedCapacity(options.capacity)),
                xrc);
    }

    private PolledSharedReceiveQueue(
            DomainHandle domain,
            int elements,
            PolledSharedReceiveSlots receives,
            NativeSharedReceiveQueue.@Nullable XrcBinding<PolledWorkQueueSlots> xrc)
            throws VerbsException {
        this(
                receives,
                NativeSharedReceiveQueue.create(
                        domain,
                        elements,
                        receives,
                        receives.sharedReservations(),
                        PolledSharedReceiveSlots.TABLE,
                        xrc,
                        () -> {}));
    }

    private PolledSharedReceiveQueue(
            PolledSharedReceiveSlots receives,
            NativeSharedReceiveQueue<PolledWorkQueueSlots> nativeQueue) {
        super(nativeQueue);
        this.nativeQueue = nativeQueue;
        this.receives = PostTarget.toShared(this, nativeQueue, receives);
    }

    /** Prepares a receive request. */
    public PreparedReceive prepareReceive(MemorySlice local) {
        return prepareReceive(List.of(local));
    }

    /**
     * Prepares a receive request that scatters the message to several slices. With an empty list,
     * the request can only receive the notification of a write with immediate data.
     */
    public PreparedReceive prepareReceive(List<MemorySlice> local) {
        return new PreparedReceive(receives, local);
    }

    /** Prepares a chain of receive requests, which a single call posts. */
    public PreparedRequest.Chain prepareChain(PreparedReceive... requests) {
        return new PreparedRequest.Chain(requests);
    }

    /**
     * The number of free slots of this queue. Only the thread that posts receives may call this
     * method.
     */
    public int freeReceives() {
        return receives.queue().freeSlots();
    }

    /**
     * Changes the capacity. Only the thread that posts receives may call this method. In C: {@code
     * ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}.
     *
     * @throws IllegalArgumentException if more than {@code newCapacity} receives are in flight, or
     *     if the new capacity could overrun a completion queue that the receives may complete into
     * @throws VerbsException if the device does not support resizing; see {@link
     *     DeviceCapability#RESIZE_SHARED_RECEIVE_QUEUE}
     */
    public void resize(int newCapacity) throws VerbsException {
        NativeSharedReceiveQueue.checkedCapacity(newCapacity);
        var slots = receives.queueForCurrentThread();
        if (slots.outstanding() > newCapacity) {
            throw nativeQueue.capacityTooSmall(newCapacity, slots.outstanding());
        }
        nativeQueue.resize(newCapacity, () -> slots.resize(newCapacity));
    }

    NativeSharedReceiveQueue<PolledWorkQueueSlots> nativeQueue() {
        return nativeQueue;
    }
}
