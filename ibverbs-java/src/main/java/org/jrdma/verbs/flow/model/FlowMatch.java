package org.jrdma.verbs.flow.model;

/**
 * The value that a header field must have. Both arrays have the length of the field in the C
 * structure.
 *
 * @param value the value, in network byte order
 * @param mask the mask of the bits to compare, in network byte order
 */
@SuppressWarnings("ArrayRecordComponent") // copied when read
public record FlowMatch(byte[] value, byte[] mask) {

    /** Creates a match with copies of the arrays. */
    public FlowMatch {
        value = value.clone();
        mask = mask.clone();
    }

    /** Returns a copy of the value. */
    @Override
    public byte[] value() {
        return value.clone();
    }

    /** Returns a copy of the mask. */
    @Override
    public byte[] mask() {
        return mask.clone();
    }
}
