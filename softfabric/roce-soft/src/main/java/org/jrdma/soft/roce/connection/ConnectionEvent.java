package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/** An event of a {@link Connection}. */
public sealed interface ConnectionEvent {

    /**
     * The peer has accepted the connect request. The program must call {@link Connection#confirm}.
     */
    record Replied(ConnectReply reply) implements ConnectionEvent {}

    /** The peer has confirmed the reply of this side. */
    record Established() implements ConnectionEvent {}

    /**
     * The peer has rejected or abandoned the connection. This event also ends an established
     * connection, like {@link Disconnected}: the peer may have given up because the confirmation of
     * this side was lost.
     */
    record Rejected(int reason, MemorySegment privateData) implements ConnectionEvent {}

    /**
     * The peer has answered neither a message nor its repetitions. This is the last event of the
     * connection.
     */
    record Unreachable() implements ConnectionEvent {}

    /**
     * Either side has disconnected. If the peer has sent a disconnect request, the program replies
     * with {@link Connection#disconnect}.
     */
    record Disconnected() implements ConnectionEvent {}

    /**
     * The time-wait state has ended, so no packet of the connection can be in flight any more. This
     * is the last event of the connection.
     */
    record TimeWaitExited() implements ConnectionEvent {}

    /**
     * A listener for the events of a connection, called by the thread that drives the engine. Must
     * neither block nor call the connection manager.
     */
    @FunctionalInterface
    interface Receiver {
        void happened(ConnectionEvent event);
    }
}
