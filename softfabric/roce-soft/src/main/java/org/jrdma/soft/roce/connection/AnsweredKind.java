package org.jrdma.soft.roce.connection;

/** The kind of message to which a {@link Rejection} or a {@link ReceiptAcknowledgement} refers. */
public enum AnsweredKind {
    REQUEST,
    REPLY,
    OTHER;

    private static final AnsweredKind[] VALUES = values();

    /** Returns the kind for a code of 2 bits. The codes 2 and 3 both mean {@link #OTHER}. */
    static AnsweredKind of(int code) {
        return VALUES[Math.min(code, VALUES.length - 1)];
    }

    @SuppressWarnings("EnumOrdinal") // constants are in the order of the codes
    int code() {
        return ordinal();
    }
}
