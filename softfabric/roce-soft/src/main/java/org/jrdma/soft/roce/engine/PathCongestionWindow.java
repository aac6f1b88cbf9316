package org.jrdma.soft.roce.engine;

import org.jrdma.ffi.linkage.ArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The congestion window of a path, which is shared by all reliable connections to one remote
 * address. The window limits the bytes in flight in both directions, including expected responses.
 * The connections share the window because the receiving socket silently drops datagrams when its
 * buffer is full, regardless of the number of queue pairs.
 *
 * <p>The window counts bytes as Linux charges them to a socket buffer. The window grows with each
 * acknowledgement and is halved after a loss.
 *
 * <p>While some queue pairs of the path receive answers, packets that remain unanswered for one to
 * two periods no longer count as in flight. They were lost, or their receiver does not answer.
 * Their queue pair may need a long time to time out, and without this rule its packets would block
 * the other queue pairs until then.
 *
 * <p>If no queue pair receives an answer, the path is silent: the peer process may only be
 * suspended, and may process the packets in its socket when it continues. While a path is silent,
 * only one probe packet is sent in each period.
 */
final class PathCongestionWindow {

    private static final long MIN_WINDOW = 64 << 10;
    private static final long INITIAL_WINDOW = 256 << 10;

    /**
     * The minimum time between two reductions of the window. Further losses within this time do not
     * reduce the window again.
     */
    private static final long MIN_CUT_INTERVAL_NANOS = 500_000;

    /** The length of a period. Unanswered packets count as in flight for one to two periods. */
    private static final long PERIOD_NANOS = 30_000_000;

    /**
     * The bytes that the kernel charges to the socket buffer for each datagram, in addition to
     * twice its payload.
     */
    private static final int OVERHEAD = 768;

    private final RoceGid remote;
    private long maxWindow;
    private long window;

    /**
     * The slow-start threshold: the size of the window after the last loss. Below it, growth is
     * exponential; above it, growth is linear.
     */
    private long threshold;

    /** The number of the current period. */
    private int period;

    private long periodStart;

    /** True if a queue pair has received an answer in the current period. */
    private boolean answered;

    /**
     * True if no queue pair received an answer in the previous period. Only probes are sent until a
     * queue pair receives an answer.
     */
    private boolean silent;

    /**
     * True if the next queue pair that has nothing in flight may send a probe although the window
     * is full.
     */
    private boolean mayProbe;

    /** The number of waiting queue pairs that may still claim the probe of this period. */
    private int probeOffers;

    /** The bytes in flight of all queue pairs on this path. */
    private final Share inFlight = new Share();

    private long cutAt = Long.MIN_VALUE / 2;
    private int users;

    /**
     * The queue pairs that wait for the window to admit a packet, in the order in which they will
     * get a turn.
     */
    private final ArrayQueue<Schedulable> waiting = new ArrayQueue<>();

    /**
     * True if this path is in the list of crowded paths of {@link CongestionWindows}, which
     * maintains this field.
     */
    boolean crowded;

    /** The queue pair that may send on this path until {@link #endTurn}; null if there is none. */
    private @Nullable Schedulable served;

    /**
     * True if the window did not admit the packet of the first waiting queue pair. The other
     * waiting queue pairs are then tried only if they may send a probe.
     */
    private boolean full;

    /**
     * The bytes in flight of one queue pair or of a whole path: those sent in the current period,
     * and those sent in the previous period.
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

    PathCongestionWindow(RoceGid remote, long maxWindow, long now) {
        this.remote = remote;
        this.periodStart = now;
        this.maxWindow = Math.max(MIN_WINDOW, maxWindow);
        this.window = Math.min(INITIAL_WINDOW, this.maxWindow);
        this.threshold = this.maxWindow;
    }

    RoceGid remote() {
        return remote;
    }

    /**
     * Sets the number of bytes that may be in flight. A new capacity lets the window grow fast
     * again.
     */
    void capacity(long bytes) {
        var limit = Math.max(MIN_WINDOW, bytes);
        if (limit != maxWindow) {
            maxWindow = limit;
            window = Math.min(window, limit);
            threshold = limit;
        }
    }

    void enter() {
        waiting.reserve(users + 1);
        users++;
    }

    /**
     * Removes a queue pair from this path. Returns true if no queue pair uses the path any more.
     */
    boolean leave(Schedulable queuePair) {
        if (queuePair.waitsForPath) {
            queuePair.waitsForPath = false;
            waiting.remove(queuePair);
        }
        users--;
        return users == 0;
    }

    /**
     * Returns the bytes that the kernel charges to a socket buffer for a packet with the given
     * payload.
     */
    static long charge(long payloadBytes) {
        return OVERHEAD + 2 * payloadBytes;
    }

    /**
     * Returns true if a queue pair may now send a packet that counts as {@code charge} bytes.
     * Otherwise, adds the queue pair to those that wait, until {@link #next} returns it.
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

    /**
     * Removes and returns the first waiting queue pair, or returns null if none waits or the window
     * is full.
     */
    @Nullable Schedulable next() {
        served = full && probeOffers == 0 ? null : waiting.pollFirst();
        probeOffers = Math.max(0, probeOffers - 1);
        if (served != null) {
            served.waitsForPath = false;
        }
        return served;
    }

    /** Returns true if at least one queue pair waits until the window admits its packet. */
    boolean isCrowded() {
        return !waiting.isEmpty();
    }

    /**
     * Returns true if no queue pair on this path received an answer in the previous period or in
     * the current one.
     */
    boolean isSilent() {
        return silent && !answered;
    }

    /** Ends the turn of the queue pair that {@link #next} returned. */
    void endTurn() {
        served = null;
    }

    /**
     * Returns true if a packet that counts as {@code charge} bytes must request an acknowledgement.
     * This is the case if the packets since the last such request use at least a quarter of the
     * window, or if the window may not admit another packet after this one. In both cases the queue
     * pair could otherwise wait for a timeout, because no acknowledgement would free the window.
     *
     * @param chargedSince the bytes that the queue pair has sent since its last request for an
     *     acknowledgement
     */
    boolean mustRequestAcknowledgement(long charge, long chargedSince) {
        return 4 * chargedSince >= window || inFlight.charge() + 2 * charge > window;
    }

    /**
     * Returns true if a queue pair whose peer does not answer may send {@code charge} more bytes.
     * Such a queue pair may use at most a quarter of the window, so that it cannot block other
     * queue pairs. A single packet is always allowed.
     */
    boolean permitsUnanswered(Share share, long charge) {
        share.enter(period);
        return share.isEmpty() || 4 * (share.charge() + charge) <= window;
    }

    /**
     * Returns the time at which {@link #age} must be called next, or {@link TimerQueue#NEVER} if no
     * queue pair waits for a full window.
     */
    long deadline() {
        return full && !waiting.isEmpty() ? periodStart + PERIOD_NANOS : TimerQueue.NEVER;
    }

    /** Ends the current period if it has lasted for {@link #PERIOD_NANOS}. */
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

    /**
     * Subtracts all packets of one queue pair from the bytes in flight, because the queue pair has
     * given up the packets or will retransmit them.
     */
    void released(Share share) {
        release(share, 1, 1);
    }

    /**
     * Subtracts the acknowledged packets of one queue pair from the bytes in flight, and enlarges
     * the window.
     *
     * @param part the number of packets that the peer has acknowledged
     * @param all the number of packets of the queue pair that were in flight before
     */
    void acknowledged(Share share, long part, long all) {
        answered = true;
        mayProbe |= silent;
        var charge = release(share, part, all);
        if (window < maxWindow) {
            // Below the threshold, the window doubles with each full window of acknowledged bytes.
            // Above it, the window grows by 16 KiB for each full window.
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
