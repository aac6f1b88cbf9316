package org.jrdma.soft.roce.engine;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The congestion window of all connections to one address: what is in flight to the address and
 * back, and how much may be. The connections share a window because a receiver's socket drops
 * datagrams silently if its buffer is full, regardless of the number of queue pairs.
 *
 * <p>The window counts bytes as Linux charges them to a socket. It grows with acknowledgements and
 * is halved after a loss.
 *
 * <p>If some queue pairs receive answers, packets without an answer for one to two periods no
 * longer count as in flight: they were lost, or their receiver does not answer. Their queue pair
 * may take long to time out, and must not block the others meanwhile. If no queue pair receives an
 * answer, the path is silent: the peer may only be suspended, and would process what is in its
 * socket when it continues. Single packets then probe the peer once in a period.
 */
final class CongestionWindow {

    private static final long MIN_WINDOW = 64 << 10;
    private static final long INITIAL_WINDOW = 256 << 10;

    /** The minimum time between reductions of the window. Losses within this time are one event. */
    private static final long MIN_CUT_INTERVAL_NANOS = 500_000;

    /** The length of a period. Unanswered packets count as in flight for one to two periods. */
    private static final long PERIOD_NANOS = 30_000_000;

    /**
     * The bytes that the kernel counts against the socket buffer for each datagram, in addition to
     * twice its length.
     */
    private static final int OVERHEAD = 768;

    private final Address remote;
    private final long maxWindow;
    private long window;

    /** The window below which growth is exponential: its size after the last loss. */
    private long threshold;

    /** The number of this period. */
    private int period;

    private long periodStart;

    /** Whether a queue pair received an answer in this period. */
    private boolean answered;

    /**
     * Whether no queue pair received an answer in the last period. Until one does, only probes are
     * sent.
     */
    private boolean silent;

    /** Whether one queue pair with nothing in flight may send a probe despite a full window. */
    private boolean mayProbe;

    /** The number of waiting queue pairs that were not offered the probe yet. */
    private int probeOffers;

    /** The bytes in flight of all queue pairs, by period. */
    private final Share inFlight = new Share();

    private long cutAt = Long.MIN_VALUE / 2;
    private int users;

    /** The queue pairs that wait for free capacity, in the order of their turns. */
    private final ArrayDeque<Schedulable> waiting = new ArrayDeque<>();

    /** Whether this path is in the list of crowded paths. Used by {@link CongestionWindows}. */
    boolean crowded;

    /** The queue pair whose turn it is. */
    private @Nullable Schedulable served;

    /** Whether the window was full for the first queue pair that waits. */
    private boolean full;

    /**
     * The bytes in flight of one queue pair, or of all, in the current period and the one before.
     */
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

        boolean isEmpty() {
            return recent == 0 && older == 0;
        }

        private long charge() {
            return recent + older;
        }

        private void take(long fromRecent, long fromOlder) {
            recent -= fromRecent;
            older -= fromOlder;
        }
    }

    CongestionWindow(Address remote, long maxWindow, long now) {
        this.remote = remote;
        this.periodStart = now;
        this.maxWindow = Math.max(MIN_WINDOW, maxWindow);
        this.window = Math.min(INITIAL_WINDOW, this.maxWindow);
        this.threshold = this.maxWindow;
    }

    Address remote() {
        return remote;
    }

    void enter() {
        users++;
    }

    /** Removes a user. Returns true if it was the last. */
    boolean leave(Schedulable queuePair) {
        if (queuePair.waitsForPath) {
            queuePair.waitsForPath = false;
            waiting.remove(queuePair);
        }
        users--;
        return users == 0;
    }

    /** The bytes charged for a packet with a payload. */
    static long charge(long payloadBytes) {
        return OVERHEAD + 2 * payloadBytes;
    }

    /**
     * Returns true if a queue pair may send {@code charge} bytes now. Otherwise the queue pair
     * waits until {@link #next} returns it.
     */
    boolean admits(Schedulable queuePair, Share share, long charge) {
        if (queuePair == served || waiting.isEmpty()) {
            if (inFlight.charge() + charge <= window || inFlight.charge() == 0) {
                return true;
            }
            full = true;
        }
        if (mayProbe && share.isEmpty()) {
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

    /** Returns the next waiting queue pair, or null if none waits or the window is full. */
    @Nullable Schedulable next() {
        served = full && probeOffers == 0 ? null : waiting.pollFirst();
        probeOffers = Math.max(0, probeOffers - 1);
        if (served != null) {
            served.waitsForPath = false;
        }
        return served;
    }

    /** Whether a queue pair waits for free capacity. */
    boolean isCrowded() {
        return !waiting.isEmpty();
    }

    /** Whether no answer was received for a whole period and since then. */
    boolean isSilent() {
        return silent && !answered;
    }

    /** Ends the turn of the queue pair that {@link #next} returned. */
    void endTurn() {
        served = null;
    }

    /**
     * Returns true if a packet must request an acknowledgement: the bytes sent since the last
     * request are a large part of the window, or little more will be admitted. Without a pending
     * acknowledgement, a queue pair would wait for a timeout.
     */
    boolean mustRequestAcknowledgement(long charge, long chargedSince) {
        return 4 * chargedSince >= window || inFlight.charge() + 2 * charge > window;
    }

    /**
     * Returns true if an unanswered queue pair may send {@code charge} bytes more: its share stays
     * small enough for the others. A single packet is always allowed.
     */
    boolean permitsUnanswered(Share share, long charge) {
        share.enter(period);
        return share.isEmpty() || 4 * (share.charge() + charge) <= window;
    }

    /** The time of the next {@link #age}, or {@link TimerQueue#NEVER} if no queue pair waits. */
    long deadline() {
        return full && !waiting.isEmpty() ? periodStart + PERIOD_NANOS : TimerQueue.NEVER;
    }

    /** Ends the period if it has lasted long enough. */
    void age(long now) {
        if (now - periodStart >= PERIOD_NANOS) {
            periodStart = now;
            silent = !answered;
            mayProbe = silent;
            probeOffers = silent ? waiting.size() : 0;
            if (answered) {
                period++;
                inFlight.enter(period);
                answered = false;
            }
            full = false;
        }
    }

    void sent(Share share, long charge) {
        share.enter(period);
        share.recent += charge;
        inFlight.recent += charge;
    }

    /** Releases all packets of a share: they were given up or will be retransmitted. */
    void released(Share share) {
        release(share, 1, 1);
    }

    /**
     * Releases {@code part} of the {@code all} packets of a share that were in flight: the peer has
     * acknowledged them.
     */
    void acknowledged(Share share, long part, long all) {
        answered = true;
        mayProbe |= silent;
        var charge = release(share, part, all);
        if (window < maxWindow) {
            // Doubles with each acknowledged window below the threshold; above it, grows by 16 KiB.
            var growth = window < threshold ? charge : (charge << 14) / window;
            window = Math.min(maxWindow, window + growth);
        }
    }

    private long release(Share share, long part, long all) {
        share.enter(period);
        var charge = share.charge() * part / all;
        var fromOlder = Math.min(charge, share.older);
        share.take(charge - fromOlder, fromOlder);
        inFlight.take(charge - fromOlder, fromOlder);
        full = false;
        return charge;
    }

    void lost(long now) {
        if (now - cutAt >= MIN_CUT_INTERVAL_NANOS) {
            cutAt = now;
            window = Math.max(MIN_WINDOW, window / 2);
            threshold = window;
        }
    }
}
