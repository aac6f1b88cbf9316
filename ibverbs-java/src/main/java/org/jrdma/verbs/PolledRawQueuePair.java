package org.jrdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.VerbsException;

/**
 * A raw packet queue pair for prepared requests and a polled {@link CompletionQueue}. Posting and
 * polling do not allocate, lock or wait.
 *
 * <p>The memory of a frame starts with the Ethernet header and does not include the frame check
 * sequence. The queue pair receives only the packets that match its {@linkplain QueuePair#newFlow
 * flows}. The process needs the capability CAP_NET_RAW. In C: {@code IBV_QPT_RAW_PACKET}.
 *
 * <p>Requests of the send queue must be prepared and posted by one thread: the first one that
 * prepares such a request. Likewise, one thread must prepare and post receives. The two threads may
 * differ from each other and from the polling thread.
 */
public final class PolledRawQueuePair extends AbstractPolledQueuePair {

    /** A frame of the minimum length, which is the data of the marker that {@code drain} posts. */
    private static final MemorySegment MINIMUM_FRAME = Arena.global().allocate(60);

    private static final int NO_KEY = 0;

    PolledRawQueuePair(Parameters parameters) throws VerbsException {
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

    /** Prepares a send of one frame. */
    public PreparedEthernetFrame prepareSend(MemorySlice frame) {
        return prepareSend(List.of(frame));
    }

    /** Prepares a send of one frame, which is gathered from several slices. */
    public PreparedEthernetFrame prepareSend(List<MemorySlice> frame) {
        return new PreparedEthernetFrame(sends(), frame);
    }

    /**
     * Sets a frame as the data of the marker, because some providers read the destination from the
     * Ethernet header when the request is posted.
     */
    @Override
    void addressMarker(WorkRequest.Send marker) {
        marker.element(0, MINIMUM_FRAME.address(), (int) MINIMUM_FRAME.byteSize(), NO_KEY);
        marker.elements(1);
    }
}
