package org.jrdma.soft.sisci.control;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * What processes tell each other.
 *
 * @param kind what it is about, which says what the numbers are
 * @param correlation the number of the request that it is, or that it answers; 0 for neither
 * @param subject what it is about: a segment, a number, a connection
 * @param first a number
 * @param second a number
 * @param value a larger number
 * @param data bytes
 */
@SuppressWarnings("ArrayRecordComponent") // messages are never compared
public record Message(
        Kind kind, int correlation, int subject, int first, int second, long value, byte[] data) {

    /** The most bytes one can carry. */
    public static final int MOST_DATA = 4096;

    private static final int LEAST_BYTES = 32;

    static final long MOST_BYTES = LEAST_BYTES + MOST_DATA;

    private static final byte[] NO_DATA = {};
    private static final List<Kind> KINDS = List.of(Kind.values());

    /** What can be told. */
    public enum Kind {
        /** The first of a connection. subject: the sender's node. first: its member. */
        HELLO,
        /** Answers a request. subject: an error code. value: the requested value. */
        ANSWER,
        /** Asks to be connected. subject: segment. first: adapter. second: connection. */
        CONNECT_SEGMENT,
        /** Asks which segment begins at an address. value: that. The answer's: its number. */
        FIND_SPACE,
        /** subject: connection. */
        DISCONNECT_SEGMENT,
        /** The segment is to be let go. subject: connection. first: whether it already has been. */
        SEGMENT_GONE,
        /** Asks for a share. subject: segment. first: connection. */
        ATTACH_SEGMENT,
        /** subject: connection. */
        DETACH_SEGMENT,
        /** Asks the owner. subject: segment. first: a step. second: adapter. value: flags. */
        SEGMENT_STEP,
        /** Something happened to a shared segment. subject: connection; first, second, value. */
        SEGMENT_EVENT,
        /** Asks. subject: number. first: adapter. second: connection. value: 1 with data. */
        CONNECT_INTERRUPT,
        /** subject: connection. */
        DISCONNECT_INTERRUPT,
        /** subject: connection. */
        INTERRUPT_GONE,
        /** subject: connection. first: how often. */
        TRIGGER,
        /** subject: connection. data: what goes with it. */
        TRIGGER_WITH_DATA,
        /** A store is to interrupt. subject: connection. first: 1 if counted. value: where. */
        FLAG_STORED,
        /** The data of a trigger was taken. subject: connection. */
        TAKEN,
        /** Asks to look at the directory anew. */
        LOOK
    }

    /** One without data. */
    public static Message of(Kind kind, int subject, int first, int second, long value) {
        return new Message(kind, 0, subject, first, second, value, NO_DATA);
    }

    /** One about a connection. */
    public static Message about(Kind kind, int connection) {
        return of(kind, connection, 0, 0, 0);
    }

    /** One with data. */
    public static Message carrying(Kind kind, int connection, byte[] data) {
        return new Message(kind, 0, connection, 0, 0, 0, data);
    }

    Message withFirst(int newFirst) {
        return new Message(kind, correlation, subject, newFirst, second, value, data);
    }

    Message numbered(int newCorrelation) {
        return new Message(kind, newCorrelation, subject, first, second, value, data);
    }

    int write(MemorySegment target) {
        target.set(JAVA_INT, 0, KINDS.indexOf(kind));
        target.set(JAVA_INT, 4, correlation);
        target.set(JAVA_INT, 8, subject);
        target.set(JAVA_INT, 12, first);
        target.set(JAVA_INT, 16, second);
        target.set(JAVA_LONG, 24, value);
        MemorySegment.copy(data, 0, target, JAVA_BYTE, LEAST_BYTES, data.length);
        return LEAST_BYTES + data.length;
    }

    /** What was sent; empty where that is no message, or one of another release. */
    static Optional<Message> read(MemorySegment source, long length) {
        var kind = source.get(JAVA_INT, 0);
        if (length < LEAST_BYTES || kind < 0 || kind >= KINDS.size()) {
            return Optional.empty();
        }
        return Optional.of(
                new Message(
                        KINDS.get(kind),
                        source.get(JAVA_INT, 4),
                        source.get(JAVA_INT, 8),
                        source.get(JAVA_INT, 12),
                        source.get(JAVA_INT, 16),
                        source.get(JAVA_LONG, 24),
                        source.asSlice(LEAST_BYTES, length - LEAST_BYTES).toArray(JAVA_BYTE)));
    }
}
