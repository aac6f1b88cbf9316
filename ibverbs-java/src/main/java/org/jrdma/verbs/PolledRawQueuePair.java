package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest;

/**
 * A queue pair of raw packets whose user prepares requests, posts them, and polls a {@link
 * CompletionQueue}: nothing is allocated, locked or waited for.
 *
 * <p>Requests to send are prepared and posted by one thread, the first to prepare one; receives by
 * one thread, likewise. They may be two, and neither need be the one that polls.
 */
public final class PolledRawQueuePair extends PolledTwoWayEnd implements RawQueuePair {

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

    @Override
    void direct(WorkRequest.Send marker) {
        // a frame has its destination in itself
    }
}
