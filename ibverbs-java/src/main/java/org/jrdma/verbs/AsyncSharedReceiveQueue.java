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
import org.jrdma.verbs.queue.AsyncSharedReceives;
import org.jrdma.verbs.queue.AsyncWorkQueue;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jspecify.annotations.Nullable;

/**
 * A shared receive queue whose receives are awaited: each is posted at once and gives a {@link
 * Transfer}, which the {@link CompletionDispatcher} of the queue pair that took it completes. The
 * completion says which queue pair that was.
 *
 * <p>Any number of threads, virtual ones too, may use it.
 */
public final class AsyncSharedReceiveQueue extends SharedReceiveQueue {

    private final NativeSharedReceiveQueue<AsyncWorkQueue> nativeQueue;
    private final AsyncSharedReceives receives;
    private final AsyncPoster<WorkRequest.Receive> poster;

    /**
     * @param named of a queue that senders name; null for one that is given to queue pairs
     */
    AsyncSharedReceiveQueue(
            DomainHandle domain,
            int capacity,
            int elements,
            Duration slotTimeout,
            NativeSharedReceiveQueue.@Nullable Named<AsyncWorkQueue> named)
            throws VerbsException {
        this(domain, elements, slotTimeout, new AsyncSharedReceives(capacity), named);
    }

    private AsyncSharedReceiveQueue(
            DomainHandle domain,
            int elements,
            Duration slotTimeout,
            AsyncSharedReceives receives,
            NativeSharedReceiveQueue.@Nullable Named<AsyncWorkQueue> named)
            throws VerbsException {
        this(
                slotTimeout,
                receives,
                NativeSharedReceiveQueue.create(
                        domain,
                        elements,
                        receives,
                        receives.sharing(),
                        AsyncSharedReceives.TABLE,
                        named,
                        receives::abandon));
    }

    private AsyncSharedReceiveQueue(
            Duration slotTimeout,
            AsyncSharedReceives receives,
            NativeSharedReceiveQueue<AsyncWorkQueue> nativeQueue) {
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
     * Receives a message. Its completion says how long it was, and which queue pair took it. In C:
     * {@code ibv_post_srq_recv}.
     *
     * @throws VerbsException if it cannot be posted
     */
    public Transfer receive(MemorySlice local) throws FabricException, InterruptedIOException {
        return receive(List.of(local));
    }

    /** Receives a message into pieces; into none, to be notified of a write with immediate data. */
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
     * Changes how many receives there is room for. In C: {@code ibv_modify_srq} with {@code
     * IBV_SRQ_MAX_WR}.
     *
     * @throws IllegalArgumentException if more are posted and not completed, or if a completion
     *     queue that they may complete into has no room for so many
     * @throws VerbsException if the device cannot: see {@link
     *     DeviceCapability#RESIZE_SHARED_RECEIVE_QUEUE}
     */
    public void resize(int newCapacity) throws VerbsException {
        receives.lock.lock();
        try {
            var fewer = capacity() - newCapacity;
            if (!receives.tryTakeSlots(fewer)) {
                throw nativeQueue.tooSmall(newCapacity, receives.outstanding());
            }
            var resized = false;
            try {
                nativeQueue.resize(newCapacity, () -> receives.capacity(newCapacity));
                resized = true;
            } finally {
                receives.returnSlots(resized ? -fewer : fewer);
            }
        } finally {
            receives.lock.unlock();
        }
    }

    NativeSharedReceiveQueue<AsyncWorkQueue> nativeQueue() {
        return nativeQueue;
    }
}
