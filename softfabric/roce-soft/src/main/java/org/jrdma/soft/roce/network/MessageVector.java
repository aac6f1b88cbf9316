package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * Packet buffers in the form in which {@code sendmmsg} and {@code recvmmsg} take many at once: an
 * array of {@code mmsghdr}, each with one {@code iovec} and one address.
 */
final class MessageVector {

    // struct mmsghdr
    private static final long BYTES = 64;
    private static final long NAME = 0;
    private static final long NAME_LENGTH = 8;
    private static final long PARTS = 16;
    private static final long PART_COUNT = 24;
    private static final long FLAGS = 48;
    private static final long LENGTH = 56;

    // struct iovec
    private static final long PART_BYTES = 16;
    private static final long PART_LENGTH = 8;

    private static final long NAME_BYTES = 32;
    private static final int TRUNCATED = 0x20;

    private final PacketBuffer[] buffers;
    private final MemorySegment headers;
    private final MemorySegment parts;
    private final MemorySegment names;
    private final int scope;

    /**
     * @param scope the interface that link-local addresses are meant on
     */
    MessageVector(int capacity, int scope, Arena arena) {
        this.scope = scope;
        headers = arena.allocate(capacity * BYTES, 64);
        parts = arena.allocate(capacity * PART_BYTES, 64);
        names = arena.allocate(capacity * NAME_BYTES, 64);
        var memory = arena.allocate((long) capacity * PacketBuffer.MEMORY_BYTES, 64);
        buffers =
                IntStream.range(0, capacity)
                        .mapToObj(i ->
                                new PacketBuffer(
                                        memory.asSlice(
                                                (long) i * PacketBuffer.MEMORY_BYTES,
                                                PacketBuffer.MEMORY_BYTES)))
                        .toArray(PacketBuffer[]::new);
        for (var i = 0; i < capacity; i++) {
            var part = parts.asSlice(i * PART_BYTES, PART_BYTES);
            part.set(ValueLayout.ADDRESS, 0, buffers[i].memory().asSlice(PacketBuffer.START));
            part.set(
                    ValueLayout.JAVA_LONG,
                    PART_LENGTH,
                    PacketBuffer.MEMORY_BYTES - PacketBuffer.START);
            var header = headers.asSlice(i * BYTES, BYTES);
            header.set(ValueLayout.ADDRESS, NAME, names.asSlice(i * NAME_BYTES));
            header.set(ValueLayout.JAVA_INT, NAME_LENGTH, (int) NAME_BYTES);
            header.set(ValueLayout.ADDRESS, PARTS, part);
            header.set(ValueLayout.JAVA_LONG, PART_COUNT, 1);
        }
    }

    int capacity() {
        return buffers.length;
    }

    PacketBuffer buffer(int index) {
        return buffers[index];
    }

    /** The address of the headers, to be told to C. */
    MemorySegment headers() {
        return headers;
    }

    /** The address of the headers from {@code index} on. */
    MemorySegment headers(int index) {
        return headers.asSlice(index * BYTES);
    }

    /** Makes a message of the packet in a buffer. */
    void prepareToSend(int index) {
        var buffer = buffers[index];
        var nameLength =
                SocketAddress.write(
                        names,
                        index * NAME_BYTES,
                        buffer.destinationHigh(),
                        buffer.destinationLow(),
                        scope);
        headers.set(ValueLayout.JAVA_INT, index * BYTES + NAME_LENGTH, nameLength);
        parts.set(ValueLayout.JAVA_LONG, index * PART_BYTES + PART_LENGTH, buffer.length());
    }

    /**
     * Makes a packet of the message that came into a buffer, which is ready for the next then.
     *
     * @return false if it was longer than the buffer, and so no packet
     */
    boolean received(int index, long destinationHigh, long destinationLow) {
        var header = index * BYTES;
        var name = index * NAME_BYTES;
        var flags = headers.get(ValueLayout.JAVA_INT, header + FLAGS);
        headers.set(ValueLayout.JAVA_INT, header + NAME_LENGTH, (int) NAME_BYTES);
        if ((flags & TRUNCATED) != 0) {
            return false;
        }
        var buffer = buffers[index];
        buffer.length(headers.get(ValueLayout.JAVA_INT, header + LENGTH));
        buffer.sourcePort(SocketAddress.port(names, name));
        buffer.addresses(
                SocketAddress.high(names, name),
                SocketAddress.low(names, name),
                destinationHigh,
                destinationLow);
        return true;
    }
}
