package org.jrdma.verbs;

import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.SharedReceiveQueueAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;

/**
 * A receive queue that several queue pairs share, so that the program need not post enough receives
 * for the worst case of each queue pair. A message for any of the queue pairs consumes the oldest
 * receive. {@link QueuePairOptions#sharedReceives} assigns the queue to a queue pair.
 *
 * <p>A receive completes in the completion queue of the queue pair that consumed it, so each of
 * these completion queues reserves capacity for all receives once. A queue pair that fails, is
 * reset or is closed leaves unconsumed receives to the others and raises {@link
 * AsyncEventType#LAST_WORK_REQUEST_REACHED}. A receive that was consumed for an incomplete message
 * may be lost on devices that do not flush it; its slot then stays occupied.
 *
 * <p>Senders select a queue of an XRC domain by its {@linkplain #number number}, over any
 * connection to the domain. All receives of such a queue complete in the completion queue that it
 * was created with. The queue is also closed with its XRC domain and with that completion queue. In
 * C: {@code IBV_SRQT_XRC}.
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
     * The 24-bit number with which senders select this queue. In C: {@code ibv_get_srq_num}.
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

    /** The requested capacity in receives. The device may provide more. */
    public final int capacity() {
        return nativeQueue.sharing().capacity();
    }

    /** The maximum number of memory slices of a receive. */
    public final int elements() {
        return nativeQueue.elements();
    }

    /** Asks the device for the attributes. In C: {@code ibv_query_srq}. */
    public final SharedReceiveQueueAttributes attributes() throws VerbsException {
        return nativeQueue.attributes();
    }

    /**
     * Requests one {@link AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED} event when a message
     * consumes a receive and fewer than {@code receives} remain; 0 cancels the request. In C:
     * {@code ibv_modify_srq} with {@code IBV_SRQ_LIMIT}.
     *
     * @throws IllegalArgumentException if {@code receives} is negative or exceeds the capacity
     * @throws VerbsException if the device rejects the limit
     */
    public final void limit(int receives) throws VerbsException {
        nativeQueue.limit(receives);
    }
}
