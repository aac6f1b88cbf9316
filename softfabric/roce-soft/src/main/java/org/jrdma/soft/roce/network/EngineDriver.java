package org.jrdma.soft.roce.network;

import org.jrdma.soft.roce.engine.Engine;

/**
 * Drives an engine: sets its clock, passes received packets to it, expires its timers, and sends
 * its packets. Guarded by the port's lock.
 */
final class EngineDriver {

    /**
     * The maximum number of packets received and sent in a round, so that other threads obtain the
     * lock.
     */
    private static final int ROUND_PACKETS = 128;

    /**
     * The maximum number of rounds of sending by a caller. The thread of the port then sends the
     * rest.
     */
    private static final int MAX_SEND_ROUNDS = 4;

    /** The maximum interval between checks of the timers while packets arrive continuously. */
    private static final long MAX_TIMER_CHECK_NANOS = 10_000_000;

    private final Engine engine;
    private final PacketTransmitter outgoing;
    private final PacketReceiver incoming;
    private final long start = System.nanoTime();

    /** True if the engine has more packets to send than a round permits. */
    private boolean unfinished;

    private long timersExpired;
    private long completionsSeen;

    /**
     * True if sending was deferred, so that acknowledgements are sent with the caller's next post.
     */
    private boolean deferred;

    EngineDriver(Engine engine, PacketTransmitter outgoing, PacketReceiver incoming) {
        this.engine = engine;
        this.outgoing = outgoing;
        this.incoming = incoming;
    }

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
     * Receives arrived packets and expires timers.
     *
     * @param mayDefer whether sending may wait for the caller's next call. A polling caller that
     *     finds a completion usually posts a response, and one system call then sends both
     * @return true if {@link #send} must be called now
     */
    boolean receive(PortSockets sockets, boolean mayDefer) {
        var now = now();
        engine.advance(now);
        var drained = true;
        for (var socket : sockets.all()) {
            drained &= incoming.receive(socket, engine, ROUND_PACKETS);
        }
        if (drained || now - timersExpired > MAX_TIMER_CHECK_NANOS) {
            engine.expireTimers();
            timersExpired = now;
        }
        var completions = engine.completions();
        deferred = completions != completionsSeen && !deferred && mayDefer;
        completionsSeen = completions;
        return !deferred;
    }

    void send() {
        deferred = false;
        outgoing.release(engine.now());
        var rounds = 0;
        do {
            outgoing.allow(ROUND_PACKETS);
            unfinished = !engine.transmit();
            outgoing.flush();
            rounds++;
        } while (unfinished && !outgoing.isBlocked() && rounds < MAX_SEND_ROUNDS);
    }

    /** Returns the time of the next action if no packet arrives and no thread posts. */
    long nextDeadline() {
        if (unfinished || outgoing.isBlocked()) {
            return engine.now();
        }
        return Math.min(engine.nextDeadline(), outgoing.nextDeadline());
    }
}
