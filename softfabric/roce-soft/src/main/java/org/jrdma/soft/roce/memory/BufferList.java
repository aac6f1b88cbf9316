package org.jrdma.soft.roce.memory;

import java.lang.foreign.MemorySegment;

/** A scatter/gather list: buffers in registered memory that together hold a message. */
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

    /** The total length of all buffers. */
    public long bytes() {
        return bytes;
    }

    /**
     * Returns true if every buffer may be accessed with {@code rights} now. Empty buffers are not
     * checked.
     */
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

    /**
     * Copies bytes from the list, beginning at {@code offset}. Returns false if a buffer may not be
     * read.
     */
    public boolean gather(
            MemoryRegistry registry,
            ProtectionDomain domain,
            long offset,
            MemorySegment target,
            long targetOffset,
            long length) {
        return copy(registry, domain, offset, target, targetOffset, length, false);
    }

    /**
     * Copies bytes to the list, beginning at {@code offset}. Returns false if a buffer may not be
     * written.
     */
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
            boolean write) {
        for (var i = 0; i < count && length > 0; i++) {
            var bufferLength = Integer.toUnsignedLong(lengths[i]);
            if (offset >= bufferLength) {
                offset -= bufferLength;
                continue;
            }
            var part = Math.min(length, bufferLength - offset);
            var address = addresses[i] + offset;
            var copied =
                    write
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
