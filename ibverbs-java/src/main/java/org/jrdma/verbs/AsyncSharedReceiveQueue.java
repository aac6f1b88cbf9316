package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.AsyncPoster;
import org.jrdma.verbs.queue.AsyncSharedReceiveSlots;
import org.jrdma.verbs.queue.AsyncWorkQueueSlots;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jspecify.annotations.Nullable;

/**
 * A shared receive queue with asynchronous operations. Each receive posts a request and returns a
 * {@link Transfer}. The {@link CompletionDispatcher} of the queue pair that consumes the request
 * completes the transfer; the completion contains the number of that queue pair.
 *
 * <p>Safe for use by multiple threads, including virtual threads.
 */
public final class AsyncSharedReceiveQueue extends SharedReceiveQueue {

    private final NativeSharedReceiveQueue<AsyncWorkQueueSlots> nativeQueue;
    private final AsyncSharedReceiveSlots receives;
    private final AsyncPoster<WorkRequest.Receive> poster;

    /**
     * @param xrc the XRC domain and completion queue of an XRC shared receive queue; null for other
     *     shared receive queues
     */
    AsyncSharedReceiveQueue(
            DomainHandle domain,
            SharedReceiveQueueOptions options,
            NativeSharedReceiveQueue.@Nullable XrcBinding<AsyncWorkQueueSlots> xrc)
            throws VerbsException {
        this(
                domain,
                options,
                new AsyncSharedReceiveSlots(
                        NativeSharedReceiveQueue.checkedCapacity(options.capacity)),
                xrc);
    }

    private AsyncSharedReceiveQueue(
            DomainHandle domain,
            SharedReceiveQueueOptions options,
            AsyncSharedReceiveSlots receives,
            NativeSharedReceiveQueue.@Nullable XrcBinding<AsyncWorkQueueSlots> xrc)
            throws VerbsException {
        this(
                options.slotTimeout,
                receives,
                NativeSharedReceiveQueue.create(
                        domain,
                        options.elements,
                        receives,
                        receives.sharedReservations(),
                        AsyncSharedReceiveSlots.TABLE,
                        xrc,
                        receives::abandon));
    }

    private AsyncSharedReceiveQueue(
            Duration slotTimeout,
            AsyncSharedReceiveSlots receives,
            NativeSharedReceiveQueue<AsyncWorkQueueSlots> nativeQueue) {
        super(nativeQueue);
        this.nativeQueue = nativeQueue;
        this.receives = receives;
        this.poster =
                new AsyncPoster<>(
                        new AsyncPoster.Target(
                                lifetime(),
                                nativeQueue.address().address(),
                                nativeQueue.hotPath(),
                                AsyncPoster.Function.SHARED_RECEIVE,
                                "ibv_post_srq_recv",
                                toString(),
                                slotTimeout),
                        receives,
                        new WorkRequest.Receive(nativeQueue.elements()));
    }

    /**
     * Posts a receive request for one message. The completion contains the length of the message
     * and the number of the queue pair that received it. In C: {@code ibv_post_srq_recv}.
     *
     * @throws VerbsException if the request cannot be posted
     */
    public Transfer receive(MemorySlice local) throws FabricException, InterruptedIOException {
        return receive(List.of(local));
    }

    /**
     * Posts a receive request that scatters the message to several slices. With an empty list, the
     * request can only receive the notification of a write with immediate data.
     */
    public Transfer receive(List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        poster.begin("RECEIVE", local);
        try {
            return new Transfer(poster.post());
        } finally {
            poster.end();
        }
    }

    /**
     * Changes the capacity. In C: {@code ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}.
     *
     * @throws IllegalArgumentException if more than {@code newCapacity} receives are in flight, or
     *     if the new capacity could overrun a completion queue that the receives may complete into
     * @throws VerbsException if the device does not support resizing; see {@link
     *     DeviceCapability#RESIZE_SHARED_RECEIVE_QUEUE}
     */
    public void resize(int newCapacity) throws VerbsException {
        NativeSharedReceiveQueue.checkedCapacity(newCapacity);
        receives.lock.lock();
        try {
            // The difference is negative if the capacity grows.
            var removedSlots = capacity() - newCapacity;
            if (!receives.tryTakeSlots(removedSlots)) {
                throw nativeQueue.capacityTooSmall(newCapacity, receives.outstanding());
            }
            var resized = false;
            try {
                nativeQueue.resize(newCapacity, () -> receives.capacity(newCapacity));
                resized = true;
            } finally {
                receives.returnSlots(resized ? -removedSlots : removedSlots);
            }
        } finally {
            receives.lock.unlock();
        }
    }

    NativeSharedReceiveQueue<AsyncWorkQueueSlots> nativeQueue() {
        return nativeQueue;
    }
}
