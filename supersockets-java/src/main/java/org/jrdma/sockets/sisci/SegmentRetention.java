package org.jrdma.sockets.sisci;

import java.time.Duration;
import org.jrdma.ffi.Deadline;

/**
 * Decides how long the two segments of a closed stream are kept, so that another stream can use
 * them.
 *
 * <p>If both ends are closed and nothing has failed, another stream can use the segments, because
 * creating and connecting segments takes much longer than the few stores that start a stream over
 * connected segments. Guarded by the monitor of the stream.
 */
final class SegmentRetention {

    /**
     * The maximum time in the state {@link State#ENDING}, and again in the state {@link
     * State#UNUSED}.
     */
    private static final Duration WAIT = Duration.ofSeconds(2);

    /**
     * The time for which a closed or connected end keeps its segment for a peer that has not
     * connected to it yet.
     */
    private static final Duration MAX_ABSENCE = Duration.ofSeconds(10);

    private enum State {
        IN_USE,
        /** At least one end is closed, and the segments are kept until the other end is closed. */
        ENDING,
        /** Both ends are closed, and another stream may use the segments. */
        UNUSED,
        /** The segments are released, or another stream uses them. */
        RELEASED
    }

    private final SisciStream stream;
    private final SisciStreamNode streamNode;
    private final StreamSegment segment;
    // Volatile, because awaitsPeer() and awaitPeer() are also called without the monitor.
    private volatile State state = State.IN_USE;
    private Deadline waitsUntil = Deadline.NEVER;
    private volatile Deadline absentUntil = Deadline.NEVER;

    SegmentRetention(SisciStream stream, StreamSegment segment) {
        this.stream = stream;
        this.streamNode = segment.streamNode();
        this.segment = segment;
    }

    boolean isEnding() {
        return state == State.ENDING;
    }

    boolean isUnused() {
        return state == State.UNUSED;
    }

    /**
     * Returns true if the segments are kept, and the peer is the next to act: it closes its end or,
     * as the connecting end, requests another stream.
     */
    boolean awaitsPeer() {
        var now = state;
        return now == State.ENDING
                || (now == State.UNUSED && segment.use() instanceof StreamSegment.Accepted);
    }

    /** Records that this end of the stream was closed. */
    void closed() {
        awaitPeer();
    }

    /** Starts the time within which the peer must connect to the segment of this end. */
    void awaitPeer() {
        absentUntil = Deadline.after(MAX_ABSENCE);
    }

    /**
     * Returns true if {@code SisciStream.disconnect} must be called for this closed end: the peer
     * has closed too, no peer has connected in time, or the segments cannot be kept longer.
     */
    boolean isDue(boolean peerHasClosed) {
        return isAbandoned() || (isEnding() && (peerHasClosed || !canWait()));
    }

    /**
     * Returns true if this end was closed or connected, and no peer has connected to its segment
     * within {@link #MAX_ABSENCE}.
     */
    boolean isAbandoned() {
        return !segment.hasPeerConnected() && absentUntil.hasPassed();
    }

    /**
     * Returns true if the segments can be kept longer: nothing has failed, the time limit was not
     * reached, and the listener is open.
     */
    boolean canWait() {
        return !stream.hasFailed()
                && !segment.isPeerGone()
                && !waitsUntil.hasPassed()
                && !(segment.use() instanceof StreamSegment.Accepted(var listener, _)
                        && listener.isClosed());
    }

    /**
     * Changes the state after one of the ends was closed, and keeps the segments if possible.
     *
     * @param hasPeer true if this end is connected to the segment of the peer
     * @param bothClosed true if both ends are closed
     * @return false if the caller must disconnect, because the segments are not kept
     */
    boolean keep(boolean hasPeer, boolean bothClosed) {
        if (state == State.IN_USE && hasPeer && streamNode.tryKeep(stream)) {
            enter(State.ENDING);
        }
        if (state == State.ENDING && bothClosed) {
            enter(State.UNUSED);
            streamNode.addUnused(stream);
        }
        if (state == State.RELEASED || state == State.IN_USE || !canWait()) {
            release();
        }
        return state != State.RELEASED;
    }

    private void enter(State next) {
        state = next;
        waitsUntil = Deadline.after(WAIT);
    }

    /** Stops keeping the segments for another stream. */
    void release() {
        streamNode.release(stream);
        state = State.RELEASED;
    }
}
