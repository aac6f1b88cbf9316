package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/** An event of a {@link Connection}. */
public sealed interface ConnectionEvent {

    /** The peer has accepted. The program must call {@link Connection#confirm}. */
    record Replied(ConnectReply reply) implements ConnectionEvent {}

    /** The peer has confirmed the reply. */
    record Established() implements ConnectionEvent {}

    /**
     * The peer has rejected the connection or given up. An established connection ends as with
     * {@link Disconnected}: the peer may have given up because its confirmation was lost.
     */
    record Rejected(int reason, MemorySegment privateData) implements ConnectionEvent {}

    /** The peer does not answer. The last event. */
    record Unreachable() implements ConnectionEvent {}

    /** Either side has disconnected. If it was the peer, {@link Connection#disconnect} replies. */
    record Disconnected() implements ConnectionEvent {}

    /** No packet of the connection is in flight any more. The last event. */
    record TimeWaitExited() implements ConnectionEvent {}

    /**
     * A listener, called by the thread that drives the engine. Must neither block nor call back.
     */
    @FunctionalInterface
    interface Receiver {
        void happened(ConnectionEvent event);
    }
}
