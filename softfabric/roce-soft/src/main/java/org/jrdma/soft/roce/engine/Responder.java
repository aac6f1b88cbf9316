package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.IncomingPacket;

/** The half of a queue pair that carries out its peer's work. */
interface Responder {

    /** Begins at this packet sequence number. */
    void start(ReceiveParameters parameters);

    /** Sends one packet, if there is one to send. */
    TransmitResult send();

    /** Takes a request of the peer. */
    void receive(IncomingPacket packet);

    /** Completes the receives as flushed. Answers that the peer must still see are kept. */
    void flush();

    /** Forgets everything, without a completion. */
    void reset();
}
