package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/** What has become of a {@link Connection}. */
public sealed interface ConnectionEvent {

    /** The peer accepts. {@link Connection#confirm} is to follow. */
    record Replied(ConnectReply reply) implements ConnectionEvent {}

    /** The peer knows that it is accepted. */
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
     * Conversation#disconnect} answers.
     */
    record Disconnected() implements ConnectionEvent {}

    /** No packet of the connection is under way any more. Nothing follows. */
    record TimeWaitExited() implements ConnectionEvent {}

    /** Who is told. On the thread that drives the engine: must neither wait nor call back. */
    @FunctionalInterface
    interface Receiver {
        void happened(ConnectionEvent event);
    }
}
