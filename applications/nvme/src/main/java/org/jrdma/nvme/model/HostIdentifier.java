package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;

/**
 * The identifier of a host, by which reservations distinguish hosts.
 *
 * @param low the first 8 bytes, or the whole identifier of 64 bits
 * @param high the last 8 bytes of an identifier of 128 bits; otherwise 0
 * @param isExtended true for 128 bits
 */
public record HostIdentifier(long low, long high, boolean isExtended) {

    /** The initial value, which identifies no host. */
    public static final HostIdentifier NONE = new HostIdentifier(0, 0, false);

    /** The bit of dword 11 that selects 128 bits in the commands for the feature (EXHID). */
    public static final int EXTENDED = 1;

    /** Returns an identifier of 64 bits. */
    public static HostIdentifier of(long value) {
        return new HostIdentifier(value, 0, false);
    }

    /** Returns true if all bits are 0. */
    public boolean isNone() {
        return (low | high) == 0;
    }

    /** Decodes an identifier. */
    public static HostIdentifier decode(MemorySegment data, boolean isExtended) {
        return new HostIdentifier(
                data.get(Fields.LONG, 0), isExtended ? data.get(Fields.LONG, 8) : 0, isExtended);
    }

    /** Encodes this identifier. */
    public void encode(MemorySegment data) {
        data.set(Fields.LONG, 0, low);
        if (isExtended) {
            data.set(Fields.LONG, 8, high);
        }
    }
}
