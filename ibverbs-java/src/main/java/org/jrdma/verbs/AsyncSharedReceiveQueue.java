package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A shared receive queue whose receives are awaited: each is posted at once and gives a {@link
 * Transfer}, which the {@link CompletionDispatcher} of the queue pair that took it completes. The
 * completion says which queue pair that was.
 *
 * <p>Any number of threads, virtual ones too, may use it.
 */
public sealed class AsyncSharedReceiveQueue extends SharedReceiveQueue
        permits AsyncXrcSharedReceiveQueue {

    private final AsyncSharedReceives receives;
    private final AsyncPoster<WorkRequest.Receive> poster;

    AsyncSharedReceiveQueue(
            ProtectionDomain domain, int capacity, int elements, Duration slotTimeout)
            throws VerbsException {
        this(domain, elements, slotTimeout, new AsyncSharedReceives(capacity), null);
    }

    AsyncSharedReceiveQueue(
            ProtectionDomain domain,
            int elements,
            Duration slotTimeout,
            AsyncSharedReceives receives,
            @Nullable Named<AsyncWorkQueue> named)
            throws VerbsException {
        super(
                domain,
                elements,
                make(
                        domain,
                        elements,
                        domain.device().sharedAsync(),
                        receives,
                        named,
                        receives::abandon));
        this.receives = receives;
        this.poster =
                new AsyncPoster<>(
                        new AsyncPoster.Target<>(
                                ownLifetime(),
                                nativeAddress(),
                                domain.device().hotPath(),
                                "ibv_post_srq_recv",
                                AsyncSharedReceiveQueue::post,
                                toString(),
                                slotTimeout),
                        receives,
                        new WorkRequest.Receive(elements));
    }

    /**
     * Receives a message. Its completion says how long it was, and which queue pair took it. In C:
     * {@code ibv_post_srq_recv}.
     *
     * @throws VerbsException if it cannot be posted
     */
    public final Transfer receive(MemorySlice local)
            throws FabricException, InterruptedIOException {
        return receive(List.of(local));
    }

    /** Receives a message into pieces; into none, to hear of a write with immediate data. */
    public final Transfer receive(List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        return poster.submit("RECEIVE", local, _ -> {});
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
    public final void resize(int newCapacity) throws VerbsException {
        receives.lock.lock();
        try {
            var fewer = capacity() - newCapacity;
            if (!receives.tryTakeSlots(fewer)) {
                throw tooSmall(newCapacity, receives.outstanding());
            }
            var resized = false;
            try {
                resize(newCapacity, () -> receives.capacity(newCapacity));
                resized = true;
            } finally {
                receives.returnSlots(resized ? -fewer : fewer);
            }
        } finally {
            receives.lock.unlock();
        }
    }

    private static int post(HotPath hotPath, long queue, WorkRequest request) {
        return hotPath.postSharedReceive(queue, request.address(), request.refusedAddress());
    }

    @Override
    final Sharing<AsyncWorkQueue> sharing() {
        return receives.sharing();
    }
}
