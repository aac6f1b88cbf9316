package org.jrdma.soft.roce.memory;

import java.lang.foreign.MemorySegment;

/**
 * A scatter/gather list: the buffers in registered memory that together contain a message, in
 * order. Addresses, lengths and keys are stored in arrays of a fixed capacity, so that a list can
 * be reused without allocation. Not safe for use by multiple threads.
 */
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

    public void copyFrom(BufferList source) {
        count = source.count;
        bytes = source.bytes;
        System.arraycopy(source.addresses, 0, addresses, 0, count);
        System.arraycopy(source.lengths, 0, lengths, 0, count);
        System.arraycopy(source.keys, 0, keys, 0, count);
    }

    /** The total length of all buffers in bytes. */
    public long bytes() {
        return bytes;
    }

    /**
     * Returns true if the domain permits accesses with {@code rights} to every buffer at the time
     * of the call. Empty buffers are not checked.
     *
     * @param rights a combination of {@link Access} bits
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
     * Copies bytes of the message from the buffers to {@code target}.
     *
     * @param offset the position of the first byte in the message
     * @return false if the message is too short or the domain does not permit reading a buffer;
     *     some bytes may have been copied then
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
     * Copies bytes of the message from {@code source} to the buffers.
     *
     * @param offset the position of the first byte in the message
     * @return false if the message is too short or the domain does not permit writing a buffer;
     *     some bytes may have been copied then
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
            MemorySegment data,
            long dataOffset,
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
                                    data,
                                    dataOffset,
                                    part)
                            : registry.read(
                                    domain,
                                    keys[i],
                                    address,
                                    Access.LOCAL_READ,
                                    data,
                                    dataOffset,
                                    part);
            if (!copied) {
                return false;
            }
            offset = 0;
            dataOffset += part;
            length -= part;
        }
        return length == 0;
    }
}
