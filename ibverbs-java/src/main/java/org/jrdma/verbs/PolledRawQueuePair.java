package org.jrdma.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair of raw packets whose user prepares requests, posts them, and polls a {@link
 * CompletionQueue}: nothing is allocated, locked or waited for.
 *
 * <p>Requests to send are prepared and posted by one thread, the first to prepare one; receives by
 * one thread, likewise. They may be two, and neither need be the one that polls.
 */
public final class PolledRawQueuePair extends PolledTwoWayEnd implements RawQueuePair {

    /** The shortest frame, for the marker of {@code drain}. */
    private static final MemorySegment NEVER_SENT = Arena.global().allocate(60);

    private static final int NO_KEY = 0;

    PolledRawQueuePair(
            ProtectionDomain domain,
            CompletionQueue ofSends,
            CompletionQueue ofReceives,
            QueuePairOptions<PolledRawQueuePair> options)
            throws VerbsException {
        super(domain, ofSends, ofReceives, options);
    }

    @Override
    public void activate() throws VerbsException {
        activateRaw();
    }

    /** A frame. */
    public PreparedFrame prepareSend(MemorySlice frame) {
        return prepareSend(List.of(frame));
    }

    /** A frame gathered from pieces. */
    public PreparedFrame prepareSend(List<MemorySlice> frame) {
        return new PreparedFrame(this, frame);
    }

    /** A frame has its destination in itself, and some providers read that in the post. */
    @Override
    void direct(WorkRequest.Send marker) {
        marker.element(0, NEVER_SENT.address(), (int) NEVER_SENT.byteSize(), NO_KEY);
        marker.elements(1);
    }
}
