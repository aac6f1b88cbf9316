package org.jrdma.sockets.sisci;

import java.time.Duration;
import org.jrdma.ffi.Deadline;

/**
 * Keeps the segments of a closed stream for the next one.
 *
 * <p>If both ends are closed and nothing has failed, the segments wait for the next stream, because
 * creating and connecting segments takes much longer than a few stores. Guarded by the monitor of
 * the stream.
 */
final class SegmentRecycling {

    /** The time that segments wait for the peer to close, and for the next stream. */
    private static final Duration WAIT = Duration.ofSeconds(2);

    /** The time that a closed end keeps its segment for a peer that has not connected yet. */
    private static final Duration MAX_ABSENCE = Duration.ofSeconds(10);

    private enum State {
        IN_USE,
        /** One end is closed. */
        ENDING,
        /** Both ends are closed: the next stream may use the segments. */
        UNUSED,
        /** The segments are released, or another stream uses them. */
        RELEASED
    }

    private final SisciStream stream;
    private final SisciFabric fabric;
    private final StreamSegment segment;
    private State state = State.IN_USE;
    private Deadline waitsUntil = Deadline.NEVER;
    private Deadline absentUntil = Deadline.NEVER;

    SegmentRecycling(SisciStream stream, StreamSegment segment) {
        this.stream = stream;
        this.fabric = segment.fabric();
        this.segment = segment;
    }

    boolean isEnding() {
        return state == State.ENDING;
    }

    boolean isUnused() {
        return state == State.UNUSED;
    }

    void closed() {
        absentUntil = Deadline.after(MAX_ABSENCE);
    }

    /** Returns true if it is time to disconnect a closed end, or to keep its segments. */
    boolean isDue(boolean peerHasClosed) {
        return isAbandoned() || (isEnding() && (peerHasClosed || !canWait()));
    }

    boolean isAbandoned() {
        return !segment.hasPeerConnected() && absentUntil.hasPassed();
    }

    /** Returns true if the segments can be kept for another stream. */
    boolean canWait() {
        return !stream.hasFailed()
                && !segment.isPeerGone()
                && !waitsUntil.hasPassed()
                && !(segment.use() instanceof StreamSegment.Accepted(var listener)
                        && listener.isClosed());
    }

    /**
     * Keeps the segments of a stream that is being closed.
     *
     * @param hasPeer true if this end is connected to the peer
     * @param bothClosed true if both ends are closed
     * @return false if the segments must be released
     */
    boolean keep(boolean hasPeer, boolean bothClosed) {
        if (state == State.IN_USE && hasPeer && fabric.tryKeep(stream)) {
            enter(State.ENDING);
        }
        if (state == State.ENDING && bothClosed) {
            enter(State.UNUSED);
            fabric.addUnused(stream);
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

    void release() {
        fabric.release(stream);
        state = State.RELEASED;
    }
}
