package org.jrdma.soft.roce.engine;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What is under way to one address and back, for all connections to it together, and how much may
 * be: datagrams that find the receiver's socket full are lost without a word, however many queue
 * pairs there are.
 *
 * <p>The window is in bytes as Linux charges them to a socket. It grows with what is acknowledged
 * and is halved when something was lost.
 */
final class Path {

    private static final long LEAST_WINDOW = 64 << 10;
    private static final long FIRST_WINDOW = 256 << 10;

    /** What is lost at a time is one loss. */
    private static final long BETWEEN_CUTS_NANOS = 500_000;

    /** What each datagram is charged beside twice its length: its bookkeeping. */
    private static final int OVERHEAD = 768;

    private final Address remote;
    private final long greatest;
    private long window;

    /** Up to where the window grows quickly: where it was before something was lost. */
    private long threshold;

    private long underWay;
    private long cutAt = Long.MIN_VALUE / 2;
    private int users;

    /** Those that would send if there were room, in the order of their turns. */
    private final ArrayDeque<QueuePair> waiting = new ArrayDeque<>();

    /** The one whose turn it is now. */
    private @Nullable QueuePair served;

    /** Whether the first of those that wait found no room. */
    private boolean full;

    Path(Address remote, long greatest) {
        this.remote = remote;
        this.greatest = Math.max(LEAST_WINDOW, greatest);
        this.window = Math.min(FIRST_WINDOW, this.greatest);
        this.threshold = this.greatest;
    }

    Address remote() {
        return remote;
    }

    void enter() {
        users++;
    }

    /** Returns whether nobody uses it any more. */
    boolean leave(QueuePair queuePair) {
        if (queuePair.waitsForPath) {
            queuePair.waitsForPath = false;
            waiting.remove(queuePair);
        }
        users--;
        return users == 0;
    }

    /** What a packet with so much payload is charged. */
    static long charge(long payloadBytes) {
        return OVERHEAD + 2 * payloadBytes;
    }

    /** Whether a queue pair may send so much now. If not, it is {@linkplain #next called}. */
    boolean admits(QueuePair queuePair, long charge) {
        if (queuePair == served || waiting.isEmpty()) {
            if (underWay + charge <= window || underWay == 0) {
                return true;
            }
            full = true;
        }
        if (!queuePair.waitsForPath) {
            queuePair.waitsForPath = true;
            if (queuePair == served) {
                waiting.addFirst(queuePair);
            } else {
                waiting.addLast(queuePair);
            }
        }
        return false;
    }

    /** The next to be served; null if there is none, or no room. */
    @Nullable QueuePair next() {
        served = full ? null : waiting.pollFirst();
        if (served != null) {
            served.waitsForPath = false;
        }
        return served;
    }

    /** Ends the turn of the one served. */
    void serveNobody() {
        served = null;
    }

    /**
     * Whether the peer must be asked for an acknowledgement with a packet: what was sent since the
     * last time is a good part of the window, or little more will be admitted. Who waits for room
     * with nothing acknowledged to come would wait for a timeout.
     */
    boolean asks(long charge, long chargedSince) {
        return 4 * chargedSince >= window || underWay + 2 * charge > window;
    }

    void sent(long charge) {
        underWay += charge;
    }

    /** So much has arrived, been given up, or is to be sent again. */
    void released(long charge) {
        underWay -= charge;
        full = false;
    }

    /** So much has arrived. */
    void acknowledged(long charge) {
        released(charge);
        if (window < greatest) {
            // Doubles with each window that got through at first; later grows by 16 KiB with each.
            var growth = window < threshold ? charge : (charge << 14) / window;
            window = Math.min(greatest, window + growth);
        }
    }

    void lost(long now) {
        if (now - cutAt >= BETWEEN_CUTS_NANOS) {
            cutAt = now;
            window = Math.max(LEAST_WINDOW, window / 2);
            threshold = window;
        }
    }
}
