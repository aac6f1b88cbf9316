package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/** An event of a {@link Connection}. */
public sealed interface ConnectionEvent {

    /** The peer accepts. {@link Connection#confirm} must follow. */
    record Replied(ConnectReply reply) implements ConnectionEvent {}

    /** The peer has confirmed the reply. */
    record Established() implements ConnectionEvent {}

    /**
     * The peer refuses, or has given up. Of a connection that was made, it is the end, as {@link
     * Disconnected} is: a peer whose confirmation was lost may have given up on it since.
     */
    record Rejected(int reason, MemorySegment privateData) implements ConnectionEvent {}

    /** The peer does not answer. Nothing follows. */
    record Unreachable() implements ConnectionEvent {}

    /**
     * The connection has ended, by whichever side. Where it was the peer, {@link
     * Connection#disconnect} answers.
     */
    record Disconnected() implements ConnectionEvent {}

    /** No packet of the connection is under way any more. Nothing follows. */
    record TimeWaitExited() implements ConnectionEvent {}

    /** A listener, called by the thread that drives the engine. Must neither wait nor call back. */
    @FunctionalInterface
    interface Receiver {
        void happened(ConnectionEvent event);
    }
}
