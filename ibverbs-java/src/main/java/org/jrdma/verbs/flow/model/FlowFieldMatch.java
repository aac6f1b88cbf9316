package org.jrdma.verbs.flow.model;

/**
 * A condition on a header field: the field must have the given value in the bits that the mask
 * selects. Both arrays have the length of the field in the C structure.
 *
 * @param value the value, in network byte order
 * @param mask the mask, whose bits are 1 for the bits to compare, in network byte order
 */
@SuppressWarnings("ArrayRecordComponent") // The accessors return copies of the arrays.
public record FlowFieldMatch(byte[] value, byte[] mask) {

    /** Copies the arrays. */
    public FlowFieldMatch {
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
