package org.jrdma.verbs;

import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.SharedReceiveQueueAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;

/**
 * A queue of places to receive into that several queue pairs share, so that there need not be
 * enough for the worst case of each: a message takes the oldest, whichever queue pair it comes to.
 * Queue pairs are given to it by {@link QueuePairOptions#sharedReceives}.
 *
 * <p>A receive completes where the queue pair that took it completes its receives; so each of those
 * completion queues must have room for all of them, once. A queue pair that fails, is reset or is
 * closed leaves what it has not taken to the others, and raises {@link
 * AsyncEventType#LAST_WORK_REQUEST_REACHED}. What it had taken for a message that was not complete
 * may be lost, on devices that do not flush it; its slot then stays taken.
 *
 * <p>Senders name the queues of an XRC domain by their {@linkplain #number numbers}, over whichever
 * connection into the domain. Such a queue completes all its receives in the completion queue that
 * it was made with; it is closed with its XRC domain and with that completion queue, too. In C:
 * {@code IBV_SRQT_XRC}.
 *
 * <p>Owned by its {@link ProtectionDomain} and closed with it; closing it closes its queue pairs.
 * In C: {@code struct ibv_srq}; {@link #close()} is {@code ibv_destroy_srq}.
 */
public abstract class SharedReceiveQueue extends NativeObject {

    private final NativeSharedReceiveQueue<?> nativeQueue;

    SharedReceiveQueue(NativeSharedReceiveQueue<?> nativeQueue) {
        super(nativeQueue.address(), nativeQueue.lifetime());
        this.nativeQueue = nativeQueue;
        nativeQueue.domain().device().events().announce(this);
    }

    /**
     * The number by which senders name it, 24 bits. In C: {@code ibv_get_srq_num}.
     *
     * @throws UnsupportedOperationException if it is not of an XRC domain
     */
    public final int number() {
        return nativeQueue
                .number()
                .orElseThrow(() ->
                        new UnsupportedOperationException(
                                this + " is not of an XRC domain, and has no number"));
    }

    /** How many receives there is room for, as asked; the device may have room for more. */
    public final int capacity() {
        return nativeQueue.sharing().capacity();
    }

    /** How many pieces of memory a receive can scatter to. */
    public final int elements() {
        return nativeQueue.elements();
    }

    /** What the device says of it. In C: {@code ibv_query_srq}. */
    public final SharedReceiveQueueAttributes attributes() throws VerbsException {
        return nativeQueue.attributes();
    }

    /**
     * Asks for {@link AsyncEventType#SHARED_RECEIVE_QUEUE_LIMIT_REACHED}, once, when a message
     * takes a receive and fewer than {@code receives} are left; 0 asks for none. In C: {@code
     * ibv_modify_srq} with {@code IBV_SRQ_LIMIT}.
     *
     * @throws IllegalArgumentException if it is negative, or more than there is room for
     * @throws VerbsException if the device refuses it
     */
    public final void limit(int receives) throws VerbsException {
        nativeQueue.limit(receives);
    }
}
