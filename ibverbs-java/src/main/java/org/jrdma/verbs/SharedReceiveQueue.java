package org.jrdma.verbs;

import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.SharedReceiveQueueAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;

/**
 * A receive queue that several queue pairs share, so that the program need not post enough receives
 * for the worst case of each queue pair. A message to any of the queue pairs consumes the oldest
 * receive. {@link QueuePairOptions#sharedReceives} assigns the queue to a queue pair.
 *
 * <p>A receive completes in the completion queue of the queue pair that consumed it. Each
 * completion queue of these queue pairs therefore reserves capacity for all receives of the shared
 * receive queue. If a queue pair fails, is reset or is closed, the other queue pairs can still
 * consume the remaining receives, and the device raises {@link
 * AsyncEventType#LAST_WORK_REQUEST_REACHED}. If a queue pair fails while a message is arriving,
 * some devices do not complete the receive that the message has consumed; the slot of that receive
 * is never freed.
 *
 * <p>A shared receive queue can belong to an XRC domain. Senders then select the queue by its
 * {@linkplain #number number}, over any connection to the XRC domain. All receives of such a queue
 * complete in the completion queue that was specified when the shared receive queue was created.
 * Closing the XRC domain or that completion queue closes the shared receive queue. In C: {@code
 * IBV_SRQT_XRC}.
 *
 * <p>Owned by its {@link ProtectionDomain} and closed with it. Closing it closes its queue pairs.
 * In C: {@code struct ibv_srq}; {@link #close()} is {@code ibv_destroy_srq}.
 */
public abstract class SharedReceiveQueue extends NativeObject {

    private final NativeSharedReceiveQueue<?> nativeQueue;

    SharedReceiveQueue(NativeSharedReceiveQueue<?> nativeQueue) {
        super(nativeQueue.address(), nativeQueue.lifetime());
        this.nativeQueue = nativeQueue;
        nativeQueue.domain().device().events().register(this);
    }

    /**
     * The 24-bit number by which senders select this queue in its XRC domain. In C: {@code
     * ibv_get_srq_num}.
     *
     * @throws UnsupportedOperationException if the queue does not belong to an XRC domain
     */
    public final int number() {
        return nativeQueue
                .number()
                .orElseThrow(() ->
                        new UnsupportedOperationException(
                                this
                                        + " has no number, because it does not belong to an XRC domain"));
    }

    /** The requested capacity in receives. The device may provide a larger capacity. */
    public final int capacity() {
        return nativeQueue.sharedReservations().capacity();
    }

    /** The maximum number of memory slices of a receive. */
    public final int elements() {
        return nativeQueue.elements();
    }

    /** Queries the current attributes from the device. In C: {@code ibv_query_srq}. */
    public final SharedReceiveQueueAttributes attributes() throws VerbsException {
        return nativeQueue.attributes();
    }

    /**
     * Sets a limit: the device raises the event {@link
     * AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED} once when a message consumes a receive and
     * fewer than {@code receives} receives remain. The value 0 removes the limit. In C: {@code
     * ibv_modify_srq} with {@code IBV_SRQ_LIMIT}.
     *
     * @throws IllegalArgumentException if {@code receives} is negative or exceeds the capacity
     * @throws VerbsException if the device rejects the limit
     */
    public final void limit(int receives) throws VerbsException {
        nativeQueue.limit(receives);
    }
}
