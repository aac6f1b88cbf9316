package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.IncomingPacket;

/** The half of a queue pair that executes its send queue. */
interface Requester {

    /** Starts at a packet sequence number. */
    void start(SendParameters parameters);

    /** Changes all parameters but the sequence number, while nothing is in flight. */
    default void change(SendParameters parameters) {}

    /** Sends one packet, if there is one to send. */
    TransmitResult send();

    /** Handles a response of the peer. */
    default void receive(IncomingPacket packet) {
        throw new IllegalStateException("This transport has no responses.");
    }

    /** Handles the expiry of the timer. */
    default void timerExpired() {
        throw new IllegalStateException("This transport has no timer.");
    }

    /** Completes all work as flushed. */
    void flush();

    /** Drops all work without completions. */
    void reset();

    /** Returns true if all work that was started is complete. */
    boolean isDrained();
}
