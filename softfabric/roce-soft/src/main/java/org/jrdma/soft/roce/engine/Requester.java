package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.PacketBuffer;

/** The requester of a queue pair, which executes the work requests in its send queue. */
interface Requester {

    /** Starts in the RTS state with the given parameters. */
    void start(SendParameters parameters);

    /**
     * Changes all parameters except the sequence number. Called only while no work is in flight.
     */
    default void change(SendParameters parameters) {}

    /** Sends the next request packet, if there is one and it may be sent now. */
    TransmitResult send();

    /**
     * Writes and sends a packet that the peer acknowledges but does not execute. Returns false and
     * does nothing if the peer sends no acknowledgements to this queue pair.
     *
     * @param buffer the buffer for the packet, whose content this method replaces
     */
    default boolean probe(PacketBuffer buffer) {
        return false;
    }

    /** Handles a response or acknowledgement from the peer. */
    default void receive(IncomingPacket packet) {
        throw new IllegalStateException("This transport has no responses.");
    }

    /** Handles the expiry of the timer of the queue pair. */
    default void timerExpired() {
        throw new IllegalStateException("This transport has no timer.");
    }

    /** Completes all work requests as flushed. */
    void flush();

    /** Drops all work requests without completions. */
    void reset();

    /** Returns true if all work requests that have started are complete. */
    boolean isDrained();
}
