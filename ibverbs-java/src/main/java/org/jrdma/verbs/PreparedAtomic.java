package org.jrdma.verbs;

import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * A prepared atomic operation on 8 bytes of remote memory. The operation stores the previous value
 * of these bytes in local memory, in native byte order.
 *
 * @param <S> the type of the request
 */
public abstract class PreparedAtomic<S extends PreparedAtomic<S>> extends PreparedSendRequest<S> {

    private final RemoteMemory remote;

    PreparedAtomic(
            PostTarget<PolledWorkQueueSlots> post,
            Operation operation,
            MemorySlice result,
            RemoteMemory remote) {
        super(post, operation);
        this.remote = remote;
        remoteOffset(0);
        local(result);
    }

    /**
     * Selects the offset of the 8 bytes in the remote memory; 0 by default.
     *
     * @throws IllegalArgumentException if the resulting address is not a multiple of 8
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
