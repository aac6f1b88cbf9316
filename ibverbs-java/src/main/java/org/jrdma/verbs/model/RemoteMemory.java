package org.jrdma.verbs.model;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A range of remote memory, which is the target of an RDMA operation. The peer sends this
 * description to the program.
 *
 * <p>The description does not keep the memory registered. If the peer has closed the memory region,
 * operations on the range complete with {@link CompletionStatus#REMOTE_ACCESS_ERROR}.
 *
 * @param address the address of the first byte, as the peer registered it: usually its virtual
 *     address at the peer
 * @param key the remote key of the memory region or memory window, the rkey in C
 * @param length the length in bytes
 */
public record RemoteMemory(long address, int key, long length) {

    /** The length of the encoding returned by {@link #toBytes()}. */
    public static final int BYTES = 20;

    /** Rejects a negative length. */
    public RemoteMemory {
        if (length < 0) {
            throw new IllegalArgumentException("The length must not be negative: " + length);
        }
    }

    /**
     * Returns a part of this range, with the same key.
     *
     * @throws IndexOutOfBoundsException if the part is not within this range
     */
    public RemoteMemory slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, this.length);
        return new RemoteMemory(address + offset, key, length);
    }

    /**
     * Returns the part of this range from {@code offset} to the end.
     *
     * @throws IndexOutOfBoundsException if the offset is not within this range
     */
    public RemoteMemory at(long offset) {
        return slice(offset, length - offset);
    }

    /**
     * Encodes the address, the key and the length in network byte order, for sending them to a
     * peer.
     */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(address).putInt(key).putLong(length).array();
    }

    /**
     * Decodes the result of {@link #toBytes()}, starting at the position of {@code bytes}, and
     * advances the position.
     *
     * @throws BufferUnderflowException if fewer than {@link #BYTES} bytes remain
     */
    public static RemoteMemory from(ByteBuffer bytes) {
        return new RemoteMemory(bytes.getLong(), bytes.getInt(), bytes.getLong());
    }

    /**
     * Parses the result of {@link #toString()}.
     *
     * @throws IllegalArgumentException if {@code text} is not a description of remote memory
     */
    public static RemoteMemory parse(String text) {
        var parts = text.split(":", -1);
        if (parts.length != 3) {
            throw new IllegalArgumentException(
                    "Remote memory must be address:key:length in hexadecimal digits: " + text);
        }
        return new RemoteMemory(
                Long.parseUnsignedLong(parts[0], 16),
                Integer.parseUnsignedInt(parts[1], 16),
                Long.parseUnsignedLong(parts[2], 16));
    }

    /**
     * Formats the range as {@code address:key:length} in hexadecimal digits, for sending it to a
     * peer as text.
     */
    @Override
    public String toString() {
        return "%016x:%08x:%x".formatted(address, key, length);
    }
}
