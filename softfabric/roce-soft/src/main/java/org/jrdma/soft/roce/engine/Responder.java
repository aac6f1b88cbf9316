package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.IncomingPacket;

/** The responder of a queue pair, which executes the requests of the peer. */
interface Responder {

    /** Starts in the RTR state with the given parameters. */
    void start(ReceiveParameters parameters);

    /** Sends the next response packet, if there is one. */
    default TransmitResult send() {
        return TransmitResult.IDLE;
    }

    /** Handles a request packet from the peer. */
    void receive(IncomingPacket packet);

    /**
     * Completes all receives as flushed. A responder that has rejected a request keeps its queued
     * responses, which include the NAK.
     */
    void flush();

    /** Drops receives that were taken and queued responses, without completions. */
    void reset();
}
