package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.IncomingPacket;

/** The half of a queue pair that executes the requests of its peer. */
interface Responder {

    /** Starts at a packet sequence number. */
    void start(ReceiveParameters parameters);

    /** Sends one packet, if there is one to send. */
    default TransmitResult send() {
        return TransmitResult.IDLE;
    }

    /** Handles a request of the peer. */
    void receive(IncomingPacket packet);

    /**
     * Completes the receives as flushed. Responses that must still be sent to the peer are kept.
     */
    void flush();

    /** Drops everything without completions. */
    void reset();
}
