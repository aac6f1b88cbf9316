package org.jrdma.verbs.model;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A peer's memory, as the peer described it: what an RDMA operation needs to reach it.
 *
 * <p>It is a claim, not a handle: the peer may have closed the region since, and the operation then
 * completes with {@link CompletionStatus#REMOTE_ACCESS_ERROR}.
 *
 * @param address where it begins, in the peer's address space
 * @param key the peer's key for it, called rkey in C
 * @param length its length in bytes
 */
public record RemoteMemory(long address, int key, long length) {

    /** The length of the form that {@link #toBytes()} gives. */
    public static final int BYTES = 20;

    /** Refuses a negative length. */
    public RemoteMemory {
        if (length < 0) {
            throw new IllegalArgumentException("A length cannot be negative: " + length);
        }
    }

    /**
     * A part of it, under the same key.
     *
     * @throws IndexOutOfBoundsException if the part is not within
     */
    public RemoteMemory slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, this.length);
        return new RemoteMemory(address + offset, key, length);
    }

    /**
     * All of it from {@code offset} on.
     *
     * @throws IndexOutOfBoundsException if the offset is not within
     */
    public RemoteMemory at(long offset) {
        return slice(offset, length - offset);
    }

    /** The compact form for a peer: address, key and length in network byte order. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(address).putInt(key).putLong(length).array();
    }

    /** What {@link #toBytes()} made, from the position of {@code bytes}. */
    public static RemoteMemory from(ByteBuffer bytes) {
        return new RemoteMemory(bytes.getLong(), bytes.getInt(), bytes.getLong());
    }

    /** What {@link #toString()} made. */
    public static RemoteMemory parse(String text) {
        var parts = text.split(":", -1);
        if (parts.length != 3) {
            throw new IllegalArgumentException(
                    "Remote memory is address:key:length in hexadecimal digits, not " + text);
        }
        return new RemoteMemory(
                Long.parseUnsignedLong(parts[0], 16),
                Integer.parseUnsignedInt(parts[1], 16),
                Long.parseUnsignedLong(parts[2], 16));
    }

    /** The text form for a peer: {@code address:key:length} in hexadecimal digits. */
    @Override
    public String toString() {
        return "%016x:%08x:%x".formatted(address, key, length);
    }
}
