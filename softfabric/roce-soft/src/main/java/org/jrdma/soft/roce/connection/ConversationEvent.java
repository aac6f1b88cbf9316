package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;

/** What has become of a {@link Conversation}. */
public sealed interface ConversationEvent {

    /** The peer accepts. {@link Conversation#confirm} is to follow. */
    record Replied(ConnectReply reply) implements ConversationEvent {}

    /** The peer knows that it is accepted. */
    record Established() implements ConversationEvent {}

    /**
     * The peer refuses, or has given up. Of a connection that was made, it is the end, as {@link
     * Disconnected} is: a peer whose confirmation was lost may have given up on it since.
     */
    record Rejected(int reason, MemorySegment privateData) implements ConversationEvent {}

    /** The peer does not answer. Nothing follows. */
    record Unreachable() implements ConversationEvent {}

    /**
     * The connection has ended, by whichever side. Where it was the peer, {@link
     * Conversation#disconnect} answers.
     */
    record Disconnected() implements ConversationEvent {}

    /** No packet of the connection is under way any more. Nothing follows. */
    record TimeWaitExited() implements ConversationEvent {}

    /** Who is told. On the thread that drives the engine: must neither wait nor call back. */
    @FunctionalInterface
    interface Receiver {
        void happened(ConversationEvent event);
    }
}
