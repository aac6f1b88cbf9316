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
 *
 * <p>Where others have answers, what is not answered for a while is no longer taken to be under
 * way: it was lost, or has arrived where nobody answers. Its queue pair may have to wait long until
 * it knows, and others would wait with it. Where nobody has an answer, the peer may only stand
 * still, and takes what it was sent when it goes on: then a single packet asks now and then.
 */
final class Path {

    private static final long LEAST_WINDOW = 64 << 10;
    private static final long FIRST_WINDOW = 256 << 10;

    /** What is lost at a time is one loss. */
    private static final long BETWEEN_CUTS_NANOS = 500_000;

    /** What was sent is under way for one to two periods at most. */
    private static final long PERIOD_NANOS = 30_000_000;

    /** What each datagram is charged beside twice its length: its bookkeeping. */
    private static final int OVERHEAD = 768;

    private final Address remote;
    private final long greatest;
    private long window;

    /** Up to where the window grows quickly: where it was before something was lost. */
    private long threshold;

    /** The number of this period. */
    private int period;

    private long periodStart;

    /** Whether anybody had an answer in this period. */
    private boolean heard;

    /** Whether nobody had one in the period before: who has one now goes on with single packets. */
    private boolean silent;

    /** Whether one who has nothing under way may send a packet though there is no room. */
    private boolean mayProbe;

    /** How many of those that wait are still to be asked whether they would probe. */
    private int toAsk;

    /** What was sent in this period, and in the one before. */
    private final Share underWay = new Share();

    private long cutAt = Long.MIN_VALUE / 2;
    private int users;

    /** Those that would send if there were room, in the order of their turns. */
    private final ArrayDeque<Schedulable> waiting = new ArrayDeque<>();

    /** Of the engine: whether it is among those that somebody waits for. */
    boolean crowded;

    /** The one whose turn it is now. */
    private @Nullable Schedulable served;

    /** Whether the first of those that wait found no room. */
    private boolean full;

    /** What of the path is taken: by a queue pair, or by all. */
    static final class Share {

        private int period;
        private long recent;
        private long older;

        private void enter(int next) {
            if (next != period) {
                older = next == period + 1 ? recent : 0;
                recent = 0;
                period = next;
            }
        }

        boolean isNothing() {
            return recent == 0 && older == 0;
        }

        private long charge() {
            return recent + older;
        }

        private void take(long ofRecent, long ofOlder) {
            recent -= ofRecent;
            older -= ofOlder;
        }
    }

    Path(Address remote, long greatest, long now) {
        this.remote = remote;
        this.periodStart = now;
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
    boolean leave(Schedulable queuePair) {
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
    boolean admits(Schedulable queuePair, Share share, long charge) {
        if (queuePair == served || waiting.isEmpty()) {
            if (underWay.charge() + charge <= window || underWay.charge() == 0) {
                return true;
            }
            full = true;
        }
        if (mayProbe && share.isNothing()) {
            mayProbe = false;
            return true;
        }
        if (!queuePair.waitsForPath) {
            queuePair.waitsForPath = true;
            if (queuePair == served && !silent) {
                waiting.addFirst(queuePair);
            } else {
                waiting.addLast(queuePair);
            }
        }
        return false;
    }

    /** The next to be served; null if there is none, or no room. */
    @Nullable Schedulable next() {
        served = full && toAsk == 0 ? null : waiting.pollFirst();
        toAsk = Math.max(0, toAsk - 1);
        if (served != null) {
            served.waitsForPath = false;
        }
        return served;
    }

    /** Whether somebody waits for room. */
    boolean isCrowded() {
        return !waiting.isEmpty();
    }

    /** Whether nobody had an answer for a whole period, nor since. */
    boolean isSilent() {
        return silent && !heard;
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
        return 4 * chargedSince >= window || underWay.charge() + 2 * charge > window;
    }

    /**
     * Whether who may send to nobody leaves room for others with so much more. Of one packet
     * anybody has the right.
     */
    boolean leavesRoom(Share share, long charge) {
        share.enter(period);
        return share.isNothing() || 4 * (share.charge() + charge) <= window;
    }

    /** When to {@link #age}; {@link TimerQueue#NEVER} while nobody waits for room. */
    long deadline() {
        return full && !waiting.isEmpty() ? periodStart + PERIOD_NANOS : TimerQueue.NEVER;
    }

    /** Ends the period if it has lasted long enough. */
    void age(long now) {
        if (now - periodStart >= PERIOD_NANOS) {
            periodStart = now;
            silent = !heard;
            mayProbe = silent;
            toAsk = silent ? waiting.size() : 0;
            if (heard) {
                period++;
                underWay.enter(period);
                heard = false;
            }
            full = false;
        }
    }

    void sent(Share share, long charge) {
        share.enter(period);
        share.recent += charge;
        underWay.recent += charge;
    }

    /** All of it has been given up, or is to be sent again. */
    void released(Share share) {
        release(share, 1, 1);
    }

    /** {@code part} of {@code all} that was under way has arrived. */
    void acknowledged(Share share, long part, long all) {
        heard = true;
        mayProbe |= silent;
        var charge = release(share, part, all);
        if (window < greatest) {
            // Doubles with each window that got through at first; later grows by 16 KiB with each.
            var growth = window < threshold ? charge : (charge << 14) / window;
            window = Math.min(greatest, window + growth);
        }
    }

    private long release(Share share, long part, long all) {
        share.enter(period);
        var charge = share.charge() * part / all;
        var ofOlder = Math.min(charge, share.older);
        share.take(charge - ofOlder, ofOlder);
        underWay.take(charge - ofOlder, ofOlder);
        full = false;
        return charge;
    }

    void lost(long now) {
        if (now - cutAt >= BETWEEN_CUTS_NANOS) {
            cutAt = now;
            window = Math.max(LEAST_WINDOW, window / 2);
            threshold = window;
        }
    }
}
