package org.jrdma.soft.roce.connection;

/** The kind of message that a {@link Rejection} or a {@link ReceiptAcknowledgement} answers. */
public enum AnsweredKind {
    REQUEST,
    REPLY,
    OTHER;

    private static final AnsweredKind[] VALUES = values();

    /**
     * Returns the kind for a code from a message.
     *
     * @param code a number of 2 bits
     */
    static AnsweredKind of(int code) {
        return VALUES[Math.min(code, VALUES.length - 1)];
    }

    @SuppressWarnings("EnumOrdinal") // declared in the order of the codes on the wire
    int code() {
        return ordinal();
    }
}
