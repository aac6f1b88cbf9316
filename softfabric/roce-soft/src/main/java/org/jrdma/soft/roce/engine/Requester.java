package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.IncomingPacket;

/** The half of a queue pair that carries out its own work. */
interface Requester {

    /** Begins at this packet sequence number. */
    void start(SendParameters parameters);

    /** Goes on with all of these but the sequence number. Nothing may be under way. */
    void change(SendParameters parameters);

    /** Sends one packet, if there is one to send. */
    TransmitResult send();

    /** Takes an answer of the peer. */
    void receive(IncomingPacket packet);

    /** The moment that it armed has come. */
    void timerExpired();

    /** Completes all work as flushed. */
    void flush();

    /** Forgets all work, without a completion. */
    void reset();

    /** Whether nothing that was begun is under way. */
    boolean isDrained();
}
