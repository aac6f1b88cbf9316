package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair of raw packets whose operations are awaited: each is posted at once and gives a
 * {@link Transfer}, which its {@link CompletionDispatcher} completes. That a frame was sent does
 * not say that it arrives.
 *
 * <p>A frame begins with its Ethernet header, and has no check sequence. The queue pair receives
 * what its {@linkplain QueuePair#newFlow flows} bring to it, and nothing else. The process needs
 * the capability CAP_NET_RAW. In C: {@code IBV_QPT_RAW_PACKET}.
 *
 * <p>Any number of threads, virtual ones too, may use it. An operation that finds its queue full
 * waits for a free slot, as long as {@link QueuePairOptions#slotTimeout} says. Frames that fit are
 * sent inline.
 */
public final class AsyncRawQueuePair extends AsyncEnd {

    AsyncRawQueuePair(Making making) throws VerbsException {
        super(making);
    }

    /**
     * Brings this queue pair from RESET to READY_TO_SEND. In C: three calls of {@code
     * ibv_modify_qp}.
     *
     * @throws VerbsException if the device refuses a step; the message names both states
     */
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
        begin(Operation.SEND, frame);
        try {
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }
}
