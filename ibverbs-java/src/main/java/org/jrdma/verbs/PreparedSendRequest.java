package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Send;

/**
 * A request that begins on this side: a message, a write, a read, an atomic.
 *
 * @param <S> the request itself
 */
public abstract sealed class PreparedSendRequest<S extends PreparedSendRequest<S>>
        extends PreparedRequest<S>
        permits PreparedSend,
                PreparedWrite,
                PreparedRead,
                PreparedCompareAndSwap,
                PreparedFetchAndAdd {

    private final Send request;
    private int flags = Send.SIGNALED;

    PreparedSendRequest(PolledQueuePair queuePair, WorkRequest.Operation operation) {
        this(queuePair, operation, new Send(queuePair.sendElements()));
    }

    private PreparedSendRequest(
            PolledQueuePair queuePair, WorkRequest.Operation operation, Send request) {
        super(queuePair, queuePair.sendsOfThisThread(), request);
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

    /** What a post of it takes up, and what its completion says: in C {@code ibv_post_send}. */
    @Override
    final String function() {
        return "ibv_post_send";
    }

    final S flag(int flag, boolean wanted) {
        checkThread();
        flags = wanted ? flags | flag : flags & ~flag;
        request.flags(flags);
        return self();
    }

    final boolean hasFlag(int flag) {
        return (flags & flag) != 0;
    }

    final Send request() {
        return request;
    }

    final void checkInline(long bytes) {
        if (hasFlag(Send.INLINE) && bytes > queuePair().inlineBytes()) {
            throw new IllegalArgumentException(
                    "%s sends %d bytes inline at most, not %d; ask for more in its options"
                            .formatted(queuePair(), queuePair().inlineBytes(), bytes));
        }
    }

    @Override
    void checkLocal(List<MemorySlice> pieces) {
        checkInline(totalLength(pieces));
    }

    @Override
    final void checkState() throws VerbsException {
        if (!queuePair().takesSends()) {
            throw queuePair()
                    .wrongState(
                            "ibv_post_send",
                            "requests to send are taken from READY_TO_SEND on; connect it first");
        }
    }

    @Override
    final int call(HotPath hotPath, long queuePairAddress, WorkRequest first) {
        return hotPath.postSend(queuePairAddress, first.address(), first.refusedAddress());
    }
}
