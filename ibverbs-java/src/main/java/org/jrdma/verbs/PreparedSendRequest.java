package org.jrdma.verbs;

import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.model.VerbsException;

/**
 * A request that begins on this side: a message, a write, a read, an atomic, a bind.
 *
 * @param <S> the request itself
 */
public abstract sealed class PreparedSendRequest<S extends PreparedSendRequest<S>>
        extends PreparedRequest<S>
        permits PreparedSend,
                PreparedDatagram,
                PreparedFrame,
                PreparedRdma,
                PreparedAtomic,
                PreparedAtomicWrite,
                PreparedFlush,
                PreparedBind,
                PreparedInvalidate {

    private final PolledEnd queuePair;
    private final Operation operation;
    private final Send request;
    private long length;
    private boolean inPlace = true;
    private int flags = Send.SIGNALED;

    PreparedSendRequest(PolledEnd queuePair, Operation operation) {
        this(queuePair, operation, new Send(queuePair.sendElements()));
    }

    private PreparedSendRequest(PolledEnd queuePair, Operation operation, Send request) {
        super(
                queuePair,
                queuePair.ownLifetime(),
                queuePair.hotPath(),
                queuePair.nativeAddress(),
                queuePair.sendsOfThisThread(),
                request);
        this.queuePair = queuePair;
        this.operation = operation;
        this.request = request;
        request.operation(operation);
        request.flags(flags);
    }

    /**
     * Whether its success is completed visibly; true from the start. A failure always is. In C:
     * {@code IBV_SEND_SIGNALED}.
     */
    public final S signalled(boolean wanted) {
        return flag(Send.SIGNALED, wanted);
    }

    /**
     * Whether it starts only when all earlier reads and atomics are done. In C: {@code
     * IBV_SEND_FENCE}.
     */
    public final S fenced(boolean wanted) {
        return flag(Send.FENCE, wanted);
    }

    /** In C {@code ibv_post_send}, or {@code ibv_wr_complete}. */
    @Override
    final String function() {
        return queuePair.postFunction();
    }

    final S flag(int flag, boolean wanted) {
        checkThread();
        flags = wanted ? flags | flag : flags & ~flag;
        request.flags(flags);
        return self();
    }

    /** Over an extended connection: for a shared receive queue of the peer's. */
    final S toReceiveQueue(int number) {
        request.receiveQueue(checkedNumber(number));
        return self();
    }

    /** Refuses what is no number of a queue. */
    static int checkedNumber(int receiveQueue) {
        if ((receiveQueue & ~0xff_ffff) != 0) {
            throw new IllegalArgumentException(
                    "The number of a receive queue has 24 bits, unlike " + receiveQueue);
        }
        return receiveQueue;
    }

    final S immediate(Operation withImmediate, int data) {
        checkThread();
        request.operation(withImmediate);
        request.immediate(data);
        return self();
    }

    /** Sets {@link Send#INLINE}. */
    final S copied(boolean wanted) {
        checkThread();
        if (wanted) {
            checkInline(length);
            checkInPlace(inPlace);
        }
        return flag(Send.INLINE, wanted);
    }

    final PolledEnd queuePair() {
        return queuePair;
    }

    final Operation operation() {
        return operation;
    }

    final Send request() {
        return request;
    }

    /** How many bytes the pieces have. */
    final long length() {
        return length;
    }

    @Override
    void checkPieces(int count, long bytes, boolean allInPlace) {
        checkLength(bytes);
        if ((flags & Send.INLINE) != 0) {
            checkInPlace(allInPlace);
        }
        length = bytes;
        inPlace = allInPlace;
    }

    /** For those that move nothing. */
    final void checkNoPieces(int count) {
        if (count != 0) {
            throw new IllegalArgumentException(
                    "%s moves no memory, and takes no pieces of it".formatted(operation));
        }
    }

    /** Refuses pieces of so many bytes, if they do not suit the request. */
    void checkLength(long bytes) {
        if ((flags & Send.INLINE) != 0) {
            checkInline(bytes);
        }
    }

    private void checkInline(long bytes) {
        if (bytes > queuePair.inlineBytes()) {
            throw new IllegalArgumentException(
                    "%s sends %d bytes inline at most, not %d; ask for more in its options"
                            .formatted(queuePair, queuePair.inlineBytes(), bytes));
        }
    }

    private static void checkInPlace(boolean inPlace) {
        if (!inPlace) { // the provider would read at the address that the request says
            throw new IllegalArgumentException(
                    "Only memory that requests name by its own address can be sent inline");
        }
    }

    @Override
    void checkState() throws VerbsException {
        if (!queuePair.takesSends()) {
            throw queuePair.wrongState(
                    function(),
                    "requests to send are taken from READY_TO_SEND on; connect it first");
        }
    }

    @Override
    int call(HotPath hotPath, long queuePairAddress, WorkRequest first) {
        return hotPath.postSend(queuePairAddress, first.address(), first.refusedAddress());
    }
}
