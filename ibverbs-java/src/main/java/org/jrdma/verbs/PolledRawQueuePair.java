package org.jrdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair of raw packets whose user prepares requests, posts them, and polls a {@link
 * CompletionQueue}: nothing is allocated, locked or waited for.
 *
 * <p>A frame begins with its Ethernet header, and has no check sequence. The queue pair receives
 * what its {@linkplain QueuePair#newFlow flows} bring to it, and nothing else. The process needs
 * the capability CAP_NET_RAW. In C: {@code IBV_QPT_RAW_PACKET}.
 *
 * <p>Requests to send are prepared and posted by one thread, the first to prepare one; receives by
 * one thread, likewise. They may be two, and neither need be the one that polls.
 */
public final class PolledRawQueuePair extends PolledEnd {

    /** The shortest frame, for the marker of {@code drain}. */
    private static final MemorySegment NEVER_SENT = Arena.global().allocate(60);

    private static final int NO_KEY = 0;

    PolledRawQueuePair(Making making) throws VerbsException {
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

    /** A frame. */
    public PreparedFrame prepareSend(MemorySlice frame) {
        return prepareSend(List.of(frame));
    }

    /** A frame gathered from pieces. */
    public PreparedFrame prepareSend(List<MemorySlice> frame) {
        return new PreparedFrame(sends(), frame);
    }

    /** A frame has its destination in itself, and some providers read that in the post. */
    @Override
    void direct(WorkRequest.Send marker) {
        marker.element(0, NEVER_SENT.address(), (int) NEVER_SENT.byteSize(), NO_KEY);
        marker.elements(1);
    }
}
