package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/** An event of a {@link Connection}. */
public sealed interface ConnectionEvent {

    /** The peer has accepted the connection. The program must call {@link Connection#confirm}. */
    record Replied(ConnectReply reply) implements ConnectionEvent {}

    /** The peer has confirmed the reply. */
    record Established() implements ConnectionEvent {}

    /**
     * The peer has rejected the connection or has stopped waiting for an answer. If the connection
     * was established on this side, it has ended, and no {@link Disconnected} event follows. This
     * is possible if the confirmation of this side was lost.
     *
     * @param reason the code of the reason, see {@link RejectionReason}
     */
    record Rejected(int reason, MemorySegment privateData) implements ConnectionEvent {}

    /** The peer does not answer. No other event follows. */
    record Unreachable() implements ConnectionEvent {}

    /**
     * The connection has ended. If the peer has disconnected, the program must call {@link
     * Connection#disconnect} to answer the disconnect request.
     */
    record Disconnected() implements ConnectionEvent {}

    /**
     * The time-wait state has ended: no packet of the connection can still be in the network. No
     * other event follows.
     */
    record TimeWaitExited() implements ConnectionEvent {}

    /**
     * A listener for the events of a connection. It is called while the lock of the engine's port
     * is held. An implementation must neither block nor call the connection.
     */
    @FunctionalInterface
    interface Receiver {
        void happened(ConnectionEvent event);
    }
}
