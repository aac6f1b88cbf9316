package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair of raw packets whose operations are awaited: each is posted at once and gives a
 * {@link Transfer}, which its {@link CompletionDispatcher} completes. That a frame was sent does
 * not say that it arrives.
 *
 * <p>Any number of threads, virtual ones too, may use it. An operation that finds its queue full
 * waits for a free slot, as long as {@link QueuePairOptions#slotTimeout} says. Frames that fit are
 * sent inline.
 */
public final class AsyncRawQueuePair extends AsyncTwoWayEnd implements RawQueuePair {

    AsyncRawQueuePair(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<AsyncRawQueuePair> options)
            throws VerbsException {
        super(domain, completions, options);
    }

    @Override
    public void activate() throws VerbsException {
        activateRaw();
    }

    /**
     * Sends a frame. In C: {@code IBV_WR_SEND}.
     *
     * @throws VerbsException if it cannot be posted
     */
    public Transfer send(MemorySlice frame) throws FabricException, InterruptedIOException {
        return send(List.of(frame));
    }

    /** Sends a frame gathered from pieces. */
    public Transfer send(List<MemorySlice> frame) throws FabricException, InterruptedIOException {
        return post(Operation.SEND, frame, request -> {});
    }
}
