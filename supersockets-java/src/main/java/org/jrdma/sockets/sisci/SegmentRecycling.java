package org.jrdma.sockets.sisci;

import java.time.Duration;
import org.jrdma.ffi.Deadline;

/**
 * Recycles the segments of a stream when it ends. If both ends are closed and nothing has failed,
 * the segments wait for the next stream for a while: creating and connecting segments takes much
 * longer than a few stores. Guarded by the monitor of the stream.
 */
final class SegmentRecycling {

    /** How long segments wait for the peer to close, and for the next stream. */
    private static final Duration WAIT = Duration.ofSeconds(2);

    /** How long a closed end keeps its segment for a peer that has not connected yet. */
    private static final Duration LONGEST_ABSENCE = Duration.ofSeconds(10);

    private enum State {
        IN_USE,
        /** One end is closed. */
        ENDING,
        /** Both ends are closed: the next stream may use the segments. */
        UNUSED,
        /** The segments are released, or another stream uses them. */
        OVER
    }

    private final SisciStream stream;
    private final SisciFabric fabric;
    private final SegmentPair pair;
    private State state = State.IN_USE;
    private Deadline waitsUntil = Deadline.NEVER;
    private Deadline absentUntil = Deadline.NEVER;

    SegmentRecycling(SisciStream stream, SegmentPair pair) {
        this.stream = stream;
        this.fabric = pair.fabric();
        this.pair = pair;
    }

    boolean isEnding() {
        return state == State.ENDING;
    }

    boolean isUnused() {
        return state == State.UNUSED;
    }

    /** This end is closed. */
    void closed() {
        absentUntil = Deadline.after(LONGEST_ABSENCE);
    }

    /** Whether it is time to disconnect a closed end, or to keep its segments. */
    boolean isDue(boolean peerHasClosed) {
        return isAbandoned() || (isEnding() && (peerHasClosed || !canWait()));
    }

    /** Whether no peer has connected, and none will. */
    boolean isAbandoned() {
        return !pair.hasPartnerCome() && absentUntil.hasPassed();
    }

    /** Whether the segments can wait for another stream. */
    boolean canWait() {
        return !stream.hasFailed()
                && !pair.isPartnerGone()
                && !waitsUntil.hasPassed()
                && !(pair.use() instanceof SegmentPair.Accepted(var listener)
                        && listener.isClosed());
    }

    /**
     * Keeps the segments of a stream that ends.
     *
     * @param hasPeer whether this end is connected to the peer
     * @param bothClosed whether both ends are closed
     * @return false if they are not to be kept
     */
    boolean keep(boolean hasPeer, boolean bothClosed) {
        if (state == State.IN_USE && hasPeer && fabric.mayKeep(stream)) {
            become(State.ENDING);
        }
        if (state == State.ENDING && bothClosed) {
            become(State.UNUSED);
            fabric.unused(stream);
        }
        if (state == State.OVER || state == State.IN_USE || !canWait()) {
            release();
        }
        return state != State.OVER;
    }

    private void become(State next) {
        state = next;
        waitsUntil = Deadline.after(WAIT);
    }

    /** The segments no longer wait for another stream. */
    void release() {
        fabric.noLongerUnused(stream);
        state = State.OVER;
    }
}
