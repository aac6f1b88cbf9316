package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * Packet buffers in the form in which {@code sendmmsg} and {@code recvmmsg} take many at once: an
 * array of {@code mmsghdr}, each with its {@code iovec}, an address and a control message.
 *
 * <p>One message may carry several packets of one length and a shorter last one, in the order of
 * the buffers: the kernel takes them apart behind the costly part of its way, or not at all if the
 * receiver takes them together too.
 */
final class MessageVector {

    /** The longest that a message of several packets may be. */
    private static final int MESSAGE_BYTES = 65_000;

    /** How much a buffer holds that takes such messages. */
    static final int COMBINED_BYTES = PacketBuffer.START + (64 << 10);

    /** How many packets the kernel lets a message carry. */
    private static final int PACKETS = 64;

    // struct mmsghdr
    private static final long BYTES = 64;
    private static final long NAME = 0;
    private static final long NAME_LENGTH = 8;
    private static final long PARTS = 16;
    private static final long PART_COUNT = 24;
    private static final long CONTROL = 32;
    private static final long CONTROL_LENGTH = 40;
    private static final long FLAGS = 48;
    private static final long LENGTH = 56;

    // struct iovec
    private static final long PART_BYTES = 16;
    private static final long PART_LENGTH = 8;

    // struct cmsghdr
    private static final long CONTROL_BYTES = 24;
    private static final long CONTROL_LEVEL = 8;
    private static final long CONTROL_TYPE = 12;
    private static final long CONTROL_DATA = 16;
    private static final int UDP = 17;
    private static final int UDP_SEGMENT = 103;
    private static final int UDP_GRO = 104;

    private static final long NAME_BYTES = 32;
    private static final int TRUNCATED = 0x20;

    private final PacketBuffer[] buffers;
    private final MemorySegment memory;
    private final long room;
    private final MemorySegment headers;
    private final MemorySegment parts;
    private final MemorySegment names;
    private final MemorySegment controls;
    private final int[] nameLengths;
    private final int[] ends;
    private final int scope;

    /**
     * @param room how much memory each buffer has: that of one packet, or {@link #COMBINED_BYTES}
     * @param scope the interface that link-local addresses are meant on
     */
    MessageVector(int capacity, int room, int scope, Arena arena) {
        this.room = room;
        this.scope = scope;
        headers = arena.allocate(capacity * BYTES, 64);
        parts = arena.allocate(capacity * PART_BYTES, 64);
        names = arena.allocate(capacity * NAME_BYTES, 64);
        controls = arena.allocate(capacity * CONTROL_BYTES, 64);
        nameLengths = new int[capacity];
        ends = new int[capacity];
        memory = arena.allocate((long) capacity * room, 64);
        buffers =
                IntStream.range(0, capacity)
                        .mapToObj(i ->
                                new PacketBuffer(
                                        memory.asSlice((long) i * room, PacketBuffer.MEMORY_BYTES)))
                        .toArray(PacketBuffer[]::new);
        for (var i = 0; i < capacity; i++) {
            part(i, i, room - PacketBuffer.START);
            header(i, i, 1, (int) NAME_BYTES);
            control(i, CONTROL_BYTES);
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

    private void part(int index, int buffer, long length) {
        parts.set(
                ValueLayout.JAVA_LONG,
                index * PART_BYTES,
                memory.address() + buffer * room + PacketBuffer.START);
        parts.set(ValueLayout.JAVA_LONG, index * PART_BYTES + PART_LENGTH, length);
    }

    private void header(int index, int firstPart, int count, int nameLength) {
        var header = index * BYTES;
        headers.set(ValueLayout.JAVA_LONG, header + NAME, names.address() + firstPart * NAME_BYTES);
        headers.set(ValueLayout.JAVA_INT, header + NAME_LENGTH, nameLength);
        headers.set(
                ValueLayout.JAVA_LONG, header + PARTS, parts.address() + firstPart * PART_BYTES);
        headers.set(ValueLayout.JAVA_LONG, header + PART_COUNT, count);
    }

    private void control(int index, long length) {
        headers.set(
                ValueLayout.JAVA_LONG,
                index * BYTES + CONTROL,
                length == 0 ? 0 : controls.address() + index * CONTROL_BYTES);
        headers.set(ValueLayout.JAVA_LONG, index * BYTES + CONTROL_LENGTH, length);
    }

    /** Notes where the packet in a buffer goes. */
    void address(int index) {
        var buffer = buffers[index];
        nameLengths[index] =
                SocketAddress.write(
                        names,
                        index * NAME_BYTES,
                        buffer.destinationHigh(),
                        buffer.destinationLow(),
                        scope);
    }

    /**
     * Makes messages of the packets in some buffers.
     *
     * @param combining whether several packets may go in one message
     * @return how many messages
     */
    int combine(int first, int end, boolean combining) {
        var messages = 0;
        for (var i = first; i < end; i = ends[messages - 1]) {
            ends[messages] = combining ? combine(i, end) : single(i);
            var count = ends[messages] - i;
            header(messages, i, count, nameLengths[i]);
            control(messages, count == 1 ? 0 : CONTROL_BYTES);
            if (count > 1) {
                var control = messages * CONTROL_BYTES;
                var length = parts.get(ValueLayout.JAVA_LONG, i * PART_BYTES + PART_LENGTH);
                controls.set(ValueLayout.JAVA_LONG, control, CONTROL_DATA + Short.BYTES);
                controls.set(ValueLayout.JAVA_INT, control + CONTROL_LEVEL, UDP);
                controls.set(ValueLayout.JAVA_INT, control + CONTROL_TYPE, UDP_SEGMENT);
                controls.set(ValueLayout.JAVA_SHORT, control + CONTROL_DATA, (short) length);
            }
            messages++;
        }
        return messages;
    }

    private int single(int index) {
        part(index, index, buffers[index].length());
        return index + 1;
    }

    /** Fills the parts of one message, and returns where the next begins. */
    private int combine(int first, int limit) {
        var length = buffers[first].length();
        var next = first + 1;
        if (next < limit
                && buffers[next].length() > length
                && isAcknowledgement(buffers[first])
                && goTogether(first, next)) {
            // The longer must be first; to what else is sent, an acknowledgement has no order.
            part(first, next, buffers[next].length());
            part(next, first, length);
            return next + 1;
        }
        single(first);
        var total = length;
        while (next < limit
                && next - first < PACKETS
                && buffers[next].length() <= length
                && total + buffers[next].length() <= MESSAGE_BYTES
                && goTogether(first, next)) {
            single(next);
            total += buffers[next].length();
            next++;
            if (buffers[next - 1].length() < length) {
                break;
            }
        }
        return next;
    }

    private static boolean isAcknowledgement(PacketBuffer packet) {
        return packet.memory().get(ValueLayout.JAVA_BYTE, PacketBuffer.START)
                == OpCode.RC_ACKNOWLEDGE.code();
    }

    private boolean goTogether(int one, int other) {
        return buffers[one].destinationLow() == buffers[other].destinationLow()
                && buffers[one].destinationHigh() == buffers[other].destinationHigh();
    }

    /** The buffer behind the last of a message that {@link #combine} made. */
    int end(int message) {
        return ends[message];
    }

    /**
     * How many bytes came into a buffer, which is ready for the next message then; -1 if not all of
     * them found room.
     */
    int received(int index) {
        var header = index * BYTES;
        var flags = headers.get(ValueLayout.JAVA_INT, header + FLAGS);
        headers.set(ValueLayout.JAVA_INT, header + NAME_LENGTH, (int) NAME_BYTES);
        return (flags & TRUNCATED) != 0 ? -1 : headers.get(ValueLayout.JAVA_INT, header + LENGTH);
    }

    /** How long each packet but the last is of a message that came; 0 if it is one packet. */
    int packetBytes(int index) {
        var length = headers.get(ValueLayout.JAVA_LONG, index * BYTES + CONTROL_LENGTH);
        headers.set(ValueLayout.JAVA_LONG, index * BYTES + CONTROL_LENGTH, CONTROL_BYTES);
        var control = index * CONTROL_BYTES;
        return length >= CONTROL_DATA + Integer.BYTES
                        && controls.get(ValueLayout.JAVA_INT, control + CONTROL_LEVEL) == UDP
                        && controls.get(ValueLayout.JAVA_INT, control + CONTROL_TYPE) == UDP_GRO
                ? controls.get(ValueLayout.JAVA_INT, control + CONTROL_DATA)
                : 0;
    }

    /**
     * The packet at {@code offset} of the message that came into a buffer. Takes the place of the
     * first there, so they are asked for in order. {@code length} is not checked against what a
     * packet can be.
     */
    PacketBuffer packet(
            int index, int offset, int length, long destinationHigh, long destinationLow) {
        var buffer = buffers[index];
        var name = index * NAME_BYTES;
        if (offset > 0) {
            var start = index * room + PacketBuffer.START;
            MemorySegment.copy(memory, start + offset, memory, start, length);
        }
        buffer.length(length);
        buffer.sourcePort(SocketAddress.port(names, name));
        buffer.addresses(
                SocketAddress.high(names, name),
                SocketAddress.low(names, name),
                destinationHigh,
                destinationLow);
        return buffer;
    }
}
