package org.jrdma.soft.roce.network;

import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.sharedmemory.SharedMemoryRings;
import org.jspecify.annotations.Nullable;

/**
 * Lets an engine do its work: sets the clock of the engine, passes received packets to it, expires
 * its timers, and sends its packets. Guarded by the lock of the {@link Port}.
 */
final class EngineDriver {

    /**
     * The maximum number of packets that one round receives from each socket, and of packets that
     * it sends. The limit ensures that the lock is released often enough for other threads.
     */
    private static final int ROUND_PACKETS = 128;

    /**
     * The maximum number of packets that one round receives from all rings. Much less than the
     * window of a path, so that the peer gets acknowledgements, and continues to send, while this
     * process still receives.
     */
    private static final int RING_PACKETS = 32;

    /**
     * The maximum number of consecutive rounds of sending in one call of {@link #send}. The thread
     * of the port later sends the packets that remain.
     */
    private static final int MAX_SEND_ROUNDS = 4;

    /**
     * The maximum interval between checks of the timers in nanoseconds. Timers are usually checked
     * only when the sockets are empty, which might never be the case.
     */
    private static final long MAX_TIMER_CHECK_NANOS = 10_000_000;

    /** The maximum interval between attempts to receive from the sockets. */
    private static final long SOCKET_NANOS = 50_000;

    /** The time after a packet from a socket in which each round tries the sockets. */
    private static final long SOCKET_USE_NANOS = 1_000_000;

    private static final int[] NONE = {};

    private final Engine engine;
    private final PacketTransmitter outgoing;
    private final PacketReceiver incoming;
    private final @Nullable SharedMemoryRings rings;
    private final long start = System.nanoTime();

    /**
     * True if packets may be ready in the engine, because {@link #send} has reached its limit or
     * was not called yet.
     */
    private boolean unfinished;

    /** The time at which the timers were last checked. */
    private long timersExpired;

    /**
     * The number of completions that the engine had reported at the end of the last {@link
     * #receive}.
     */
    private long completionsSeen;

    /**
     * True if the last {@link #receive} deferred sending, so that acknowledgements are sent
     * together with the packets that the caller posts next.
     */
    private boolean deferred;

    /** The index of the ring from which packets were last received. */
    private int ring;

    /** The number of removals of outgoing rings that the engine knows. */
    private int removals;

    /** The time of the last attempt to receive from the sockets. */
    private long socketsTried;

    /** The time of the last attempt to receive from the sockets that found a packet. */
    private long socketsUsed;

    EngineDriver(
            Engine engine,
            PacketTransmitter outgoing,
            PacketReceiver incoming,
            @Nullable SharedMemoryRings rings) {
        this.rings = rings;
        this.engine = engine;
        this.outgoing = outgoing;
        this.incoming = incoming;
    }

    /** Returns the current time of the engine's clock in nanoseconds. */
    long now() {
        return System.nanoTime() - start;
    }

    void advance() {
        engine.advance(now());
    }

    boolean isSendingDeferred() {
        return deferred;
    }

    /**
     * Receives the packets in the rings and in the sockets, and expires timers.
     *
     * @param mayDefer true if sending may wait until the next call of the caller. A polling caller
     *     that finds a completion usually posts a response, and one system call then sends the
     *     response and the acknowledgements
     * @return true if the caller must call {@link #send} now
     */
    boolean receive(PortAndMulticastSockets sockets, boolean mayDefer) {
        var now = now();
        engine.advance(now);
        var received = incoming.count();
        var drained = rings == null || receiveFromRings(rings, now);
        if (rings == null || mustTrySockets(rings, now)) {
            drained &= receiveFromSockets(sockets, now);
        }
        if (incoming.count() == received && isIdle(now)) {
            return false;
        }
        unfinished = true; // until send() has succeeded, because each call may throw
        if (drained || now - timersExpired > MAX_TIMER_CHECK_NANOS) {
            engine.expireTimers();
            timersExpired = now;
        }
        var completions = engine.completions();
        deferred = completions != completionsSeen && !deferred && mayDefer;
        completionsSeen = completions;
        return !deferred;
    }

    /** Returns true if no timer has expired, and no packet is ready to be sent. */
    private boolean isIdle(long now) {
        return !deferred && !engine.hasRungDoorbells() && nextDeadline() > now;
    }

    private boolean receiveFromRings(SharedMemoryRings shared, long now) {
        shared.check(now);
        if (shared.outgoing().removals() != removals) {
            removals = shared.outgoing().removals();
            engine.updatePaths();
        }
        var incomingRings = shared.incoming();
        var left = RING_PACKETS;
        for (var i = 0; i < incomingRings.length && left > 0; i++) {
            ring = ring + 1 < incomingRings.length ? ring + 1 : 0;
            left -= incoming.receive(incomingRings[ring], engine, left);
        }
        return left > 0;
    }

    private boolean receiveFromSockets(PortAndMulticastSockets sockets, long now) {
        socketsTried = now;
        var before = incoming.count();
        var drained = true;
        for (var socket : sockets.all()) {
            drained &= incoming.receive(socket, engine, ROUND_PACKETS);
        }
        if (incoming.count() != before) {
            socketsUsed = now;
        }
        return drained;
    }

    /**
     * Returns true if the sockets may have packets. While peers use shared memory, the sockets are
     * tried less often, because each attempt is a system call.
     */
    private boolean mustTrySockets(SharedMemoryRings shared, long now) {
        return shared.incoming().length == 0
                || now - socketsTried >= SOCKET_NANOS
                || now - socketsUsed < SOCKET_USE_NANOS;
    }

    /**
     * Prepares the rings for the sleep of the thread of the port. Returns false if a packet has
     * arrived, or a ring must be removed.
     */
    boolean prepareToWait() {
        return rings == null || rings.prepareToWait();
    }

    /**
     * Returns the descriptors of the rings that have an event when the thread of the port must wake
     * up.
     */
    int[] descriptors() {
        return rings == null ? NONE : rings.descriptors();
    }

    /** Closes the rings. */
    void close() {
        if (rings != null) {
            rings.close();
        }
    }

    /** Ends the sleep of the thread of the port. */
    void endWait() {
        if (rings != null) {
            rings.endWait();
        }
    }

    /** Returns the number of packets received so far. */
    long packetsReceived() {
        return incoming.count();
    }

    /** Sends the packets that the engine has ready, in up to {@link #MAX_SEND_ROUNDS} rounds. */
    void send() {
        deferred = false;
        unfinished = true;
        outgoing.release(engine.now());
        var rounds = 0;
        do {
            outgoing.allow(ROUND_PACKETS);
            unfinished = !engine.transmit();
            outgoing.flush();
            rounds++;
        } while (unfinished && !outgoing.isBlocked() && rounds < MAX_SEND_ROUNDS);
    }

    /**
     * Returns the time of the next call that is necessary if no packet arrives and no thread posts
     * work.
     */
    long nextDeadline() {
        if (unfinished || outgoing.isBlocked()) {
            return engine.now();
        }
        var deadline = Math.min(engine.nextDeadline(), outgoing.nextDeadline());
        return rings == null ? deadline : Math.min(deadline, rings.nextDeadline());
    }
}
