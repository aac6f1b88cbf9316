package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.VerbsException;

/**
 * A raw packet queue pair with asynchronous operations. Each operation posts a request and returns
 * a {@link Transfer}, which the {@link CompletionDispatcher} completes when the request has
 * completed. A successful completion means that the frame was sent, but not that it arrived.
 *
 * <p>The memory of a frame starts with the Ethernet header and does not include the frame check
 * sequence. The queue pair receives only the packets that match its {@linkplain QueuePair#newFlow
 * flows}. The process needs the capability CAP_NET_RAW. In C: {@code IBV_QPT_RAW_PACKET}.
 *
 * <p>Safe for use by multiple threads, including virtual threads. If the queue is full, an
 * operation waits for a free slot, up to {@link QueuePairOptions#slotTimeout}. Frames of at most
 * {@link #inlineBytes()} bytes are sent inline, unless the start address of one of their regions is
 * not its virtual address, for example because the region is zero-based.
 */
public final class AsyncRawQueuePair extends AbstractAsyncQueuePair {

    AsyncRawQueuePair(Parameters parameters) throws VerbsException {
        super(parameters);
    }

    /**
     * Activates this queue pair: moves it from the state RESET to READY_TO_SEND. In C: three calls
     * of {@code ibv_modify_qp}.
     *
     * @throws VerbsException if the device rejects a transition; the message names both states
     */
    public void activate() throws VerbsException {
        activateRaw();
    }

    /**
     * Sends a frame. In C: {@code IBV_WR_SEND}.
     *
     * @throws VerbsException if the request cannot be posted
     */
    public Transfer send(MemorySlice frame) throws FabricException, InterruptedIOException {
        return send(List.of(frame));
    }

    /** Sends a frame gathered from several slices. */
    public Transfer send(List<MemorySlice> frame) throws FabricException, InterruptedIOException {
        begin(Operation.SEND, frame);
        try {
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }
}
