package org.jrdma.soft.roce.connection;

/** The message that a {@link Rejection} or a {@link ReceiptAcknowledgement} answers. */
public enum AnsweredMessage {
    REQUEST,
    REPLY,
    OTHER;

    private static final AnsweredMessage[] VALUES = values();

    /** By the number on the wire, of 2 bits. */
    static AnsweredMessage of(int code) {
        return VALUES[Math.min(code, VALUES.length - 1)];
    }

    @SuppressWarnings("EnumOrdinal") // declared in the order of the numbers on the wire
    int code() {
        return ordinal();
    }
}
