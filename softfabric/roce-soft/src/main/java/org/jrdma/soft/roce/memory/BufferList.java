package org.jrdma.soft.roce.memory;

import java.lang.foreign.MemorySegment;

/** Pieces of registered memory that together hold a message: a scatter/gather list. */
public final class BufferList {

    private final long[] addresses;
    private final int[] lengths;
    private final int[] keys;
    private int count;
    private long bytes;

    public BufferList(int capacity) {
        addresses = new long[capacity];
        lengths = new int[capacity];
        keys = new int[capacity];
    }

    public void clear() {
        count = 0;
        bytes = 0;
    }

    public void add(long address, int length, int key) {
        addresses[count] = address;
        lengths[count] = length;
        keys[count] = key;
        count++;
        bytes += Integer.toUnsignedLong(length);
    }

    public void copyFrom(BufferList other) {
        count = other.count;
        bytes = other.bytes;
        System.arraycopy(other.addresses, 0, addresses, 0, count);
        System.arraycopy(other.lengths, 0, lengths, 0, count);
        System.arraycopy(other.keys, 0, keys, 0, count);
    }

    /** The length of all pieces together. */
    public long bytes() {
        return bytes;
    }

    /** Whether every piece may be accessed so now. A piece of no length is not looked at. */
    public boolean permits(MemoryRegistry registry, ProtectionDomain domain, int rights) {
        for (var i = 0; i < count; i++) {
            if (lengths[i] != 0
                    && !registry.permits(
                            domain,
                            keys[i],
                            addresses[i],
                            Integer.toUnsignedLong(lengths[i]),
                            rights)) {
                return false;
            }
        }
        return true;
    }

    /** Copies bytes {@code offset} and following out. False if some of them may not be read. */
    public boolean gather(
            MemoryRegistry registry,
            ProtectionDomain domain,
            long offset,
            MemorySegment target,
            long targetOffset,
            long length) {
        return copy(registry, domain, offset, target, targetOffset, length, false);
    }

    /** Copies in, to byte {@code offset} and following. False if some may not be written. */
    public boolean scatter(
            MemoryRegistry registry,
            ProtectionDomain domain,
            long offset,
            MemorySegment source,
            long sourceOffset,
            long length) {
        return copy(registry, domain, offset, source, sourceOffset, length, true);
    }

    private boolean copy(
            MemoryRegistry registry,
            ProtectionDomain domain,
            long offset,
            MemorySegment other,
            long otherOffset,
            long length,
            boolean in) {
        for (var i = 0; i < count && length > 0; i++) {
            var piece = Integer.toUnsignedLong(lengths[i]);
            if (offset >= piece) {
                offset -= piece;
                continue;
            }
            var part = Math.min(length, piece - offset);
            var address = addresses[i] + offset;
            var copied =
                    in
                            ? registry.write(
                                    domain,
                                    keys[i],
                                    address,
                                    Access.LOCAL_WRITE,
                                    other,
                                    otherOffset,
                                    part)
                            : registry.read(
                                    domain,
                                    keys[i],
                                    address,
                                    Access.LOCAL_READ,
                                    other,
                                    otherOffset,
                                    part);
            if (!copied) {
                return false;
            }
            offset = 0;
            otherOffset += part;
            length -= part;
        }
        return length == 0;
    }
}
