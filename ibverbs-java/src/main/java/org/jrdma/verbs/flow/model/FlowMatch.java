package org.jrdma.verbs.flow.model;

/**
 * The value that a field of a header must have, as long as the field is in C.
 *
 * @param value in network byte order
 * @param mask the bits that count, likewise
 */
@SuppressWarnings("ArrayRecordComponent") // copied when read
public record FlowMatch(byte[] value, byte[] mask) {

    /** Copies the arrays. */
    public FlowMatch {
        value = value.clone();
        mask = mask.clone();
    }

    /** The value, as a copy. */
    @Override
    public byte[] value() {
        return value.clone();
    }

    /** The mask, as a copy. */
    @Override
    public byte[] mask() {
        return mask.clone();
    }
}
