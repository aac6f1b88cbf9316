package org.jrdma.verbs;

import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * Changes 8 bytes of the peer's in one step, and brings the former value back, in this machine's
 * byte order.
 *
 * @param <S> the request itself
 */
public abstract class PreparedAtomic<S extends PreparedAtomic<S>> extends PreparedSendRequest<S> {

    private final RemoteMemory remote;

    PreparedAtomic(
            PolledPost<PolledWorkQueue> post,
            Operation operation,
            MemorySlice result,
            RemoteMemory remote) {
        super(post, operation);
        this.remote = remote;
        remoteOffset(0);
        local(result);
    }

    /**
     * Where the 8 bytes are within the peer's memory.
     *
     * @throws IllegalArgumentException if that is not at a multiple of 8
     */
    public final S remoteOffset(long bytes) {
        checkThread();
        RequestWriter.atomic(request(), remote, bytes);
        return self();
    }

    @Override
    final void checkLength(long bytes) {
        RequestWriter.checkAtomicResult(bytes);
    }

    @Override
    final String describe() {
        return "%s on %s".formatted(operation(), remote);
    }
}
