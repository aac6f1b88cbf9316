package org.jrdma.soft.roce.network;

import org.jrdma.soft.roce.engine.Engine;

/**
 * Drives an engine: sets its clock, gives it the packets received, expires its timers, and sends
 * its packets. Guarded by the port's lock.
 */
final class EngineDriver {

    /** How many packets a round receives and sends at most, so that other threads get the lock. */
    private static final int ROUND = 128;

    /** How many rounds a caller sends before the thread of the port sends the rest. */
    private static final int ROUNDS_OF_CALLER = 4;

    /** How often timers expire at least, even if packets come without a pause. */
    private static final long TIMERS_AT_LEAST_NANOS = 10_000_000;

    private final Engine engine;
    private final PacketTransmitter outgoing;
    private final PacketReceiver incoming;
    private final long start = System.nanoTime();

    /** Whether the engine has more to send than a round takes. */
    private boolean unfinished;

    private long timersExpired;
    private long completionsSeen;

    /** Whether sending was put off, so that acknowledgements travel with the caller's next post. */
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
     * @param mayDefer whether packets may wait for the caller's next call. A caller that polls, and
     *     finds a completion, usually posts in return: one system call then sends both
     * @return whether {@link #send} must follow now
     */
    boolean receive(PortSockets sockets, boolean mayDefer) {
        var now = now();
        engine.advance(now);
        var drained = true;
        for (var socket : sockets.all()) {
            drained &= incoming.receive(socket, engine, ROUND);
        }
        if (drained || now - timersExpired > TIMERS_AT_LEAST_NANOS) {
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
            outgoing.allow(ROUND);
            unfinished = !engine.transmit();
            outgoing.flush();
            rounds++;
        } while (unfinished && !outgoing.isBlocked() && rounds < ROUNDS_OF_CALLER);
    }

    /** When there is something to do next if nothing comes in and no thread posts. */
    long nextDeadline() {
        if (unfinished || outgoing.isBlocked()) {
            return engine.now();
        }
        return Math.min(engine.nextDeadline(), outgoing.nextDeadline());
    }
}
