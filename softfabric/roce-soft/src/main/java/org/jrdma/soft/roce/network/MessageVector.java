package org.jrdma.soft.roce.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * An array of packet buffers for {@code sendmmsg} and {@code recvmmsg}: each element has a {@code
 * mmsghdr}, an {@code iovec}, an address and a control message.
 *
 * <p>One message to the kernel may contain several consecutive packets of equal length, of which
 * only the last may be shorter (UDP GSO). The kernel splits such a message into datagrams as late
 * as possible. If the receiving socket of this machine uses UDP GRO, the kernel does not split the
 * message at all.
 */
final class MessageVector {

    /** The maximum total length of the packets in one GSO message. */
    private static final int MESSAGE_BYTES = 65_000;

    /** The size of a buffer that can receive a GRO message with several packets. */
    static final int COMBINED_BYTES = PacketBuffer.START + (64 << 10);

    /** The maximum number of packets that the kernel accepts in one GSO message. */
    private static final int MAX_PACKETS = 64;

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
    private static final int IP = 0;
    private static final int IP_TOS = 1;
    private static final int IPV6 = 41;
    private static final int IPV6_TCLASS = 67;
    private static final int UDP = 17;
    private static final int UDP_SEGMENT = 103;
    private static final int UDP_GRO = 104;

    /**
     * The size of the control messages that belong to one message: the segment size of GSO and the
     * traffic class.
     */
    private static final long CONTROLS_BYTES = 2 * CONTROL_BYTES;

    private static final long NAME_BYTES = 32;
    private static final int TRUNCATED = 0x20;

    private final PacketBuffer[] buffers;
    private final MemorySegment memory;
    private final long bufferBytes;
    private final MemorySegment headers;
    private final MemorySegment parts;
    private final MemorySegment names;
    private final MemorySegment controls;
    private final int[] nameLengths;

    /** For each message, the index of the first buffer after its packets. */
    private final int[] ends;

    private final int scope;

    /**
     * True if packets are sent with IPv6 flow labels. Some kernels reject labels that were not
     * registered.
     */
    private boolean labels = true;

    /**
     * @param bufferBytes the size of each buffer: {@link PacketBuffer#MEMORY_BYTES} or {@link
     *     #COMBINED_BYTES}
     * @param scope the index of the network interface for link-local addresses
     */
    MessageVector(int capacity, int bufferBytes, int scope, Arena arena) {
        this.bufferBytes = bufferBytes;
        this.scope = scope;
        headers = arena.allocate(capacity * BYTES, 64);
        parts = arena.allocate(capacity * PART_BYTES, 64);
        names = arena.allocate(capacity * NAME_BYTES, 64);
        controls = arena.allocate(capacity * CONTROLS_BYTES, 64);
        nameLengths = new int[capacity];
        ends = new int[capacity];
        memory = arena.allocate((long) capacity * bufferBytes, 64);
        buffers =
                IntStream.range(0, capacity)
                        .mapToObj(i ->
                                new PacketBuffer(
                                        memory.asSlice((long) i * bufferBytes, bufferBytes)))
                        .toArray(PacketBuffer[]::new);
        for (var i = 0; i < capacity; i++) {
            part(i, i, bufferBytes - PacketBuffer.START);
            header(i, i, 1, (int) NAME_BYTES);
            control(i, CONTROLS_BYTES);
        }
    }

    int capacity() {
        return buffers.length;
    }

    PacketBuffer buffer(int index) {
        return buffers[index];
    }

    /** Returns the array of {@code mmsghdr} for the system calls. */
    MemorySegment headers() {
        return headers;
    }

    private void part(int index, int buffer, long length) {
        parts.set(
                ValueLayout.JAVA_LONG,
                index * PART_BYTES,
                memory.address() + buffer * bufferBytes + PacketBuffer.START);
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
                length == 0 ? 0 : controls.address() + index * CONTROLS_BYTES);
        headers.set(ValueLayout.JAVA_LONG, index * BYTES + CONTROL_LENGTH, length);
    }

    /**
     * Writes the destination of the packet with the given index to the socket address with this
     * index.
     */
    void address(int index) {
        address(index, labels);
    }

    private void address(int index, boolean withLabel) {
        var buffer = buffers[index];
        nameLengths[index] =
                SocketAddress.write(
                        names,
                        index * NAME_BYTES,
                        buffer.destinationHigh(),
                        buffer.destinationLow(),
                        withLabel ? buffer.flow() & PacketBuffer.LABEL_MASK : 0,
                        scope);
    }

    /**
     * Removes the IPv6 flow labels from the packets in the buffers from {@code first} to {@code
     * end} (exclusive) and from later packets, because the kernel permits only labels that the
     * socket has registered.
     */
    void removeLabels(int first, int end) {
        labels = false;
        for (var i = first; i < end; i++) {
            address(i);
        }
    }

    /** Removes the flow label from one packet. Returns false if it has none. */
    boolean removeLabel(int index) {
        var buffer = buffers[index];
        if (!labels || buffer.isIpv4() || (buffer.flow() & PacketBuffer.LABEL_MASK) == 0) {
            return false;
        }
        address(index, false);
        return true;
    }

    /**
     * Builds messages from the packets in the buffers from {@code first} to {@code end}
     * (exclusive).
     *
     * @param combining true if a message may contain several packets (UDP GSO)
     * @return the number of messages
     */
    int combine(int first, int end, boolean combining) {
        var messages = 0;
        for (var i = first; i < end; i = ends[messages - 1]) {
            ends[messages] = combining ? combine(i, end) : single(i);
            var count = ends[messages] - i;
            header(messages, i, count, nameLengths[i]);
            var control = messages * CONTROLS_BYTES;
            var controlBytes = 0L;
            if (count > 1) {
                var length = parts.get(ValueLayout.JAVA_LONG, i * PART_BYTES + PART_LENGTH);
                controls.set(ValueLayout.JAVA_LONG, control, CONTROL_DATA + Short.BYTES);
                controls.set(ValueLayout.JAVA_INT, control + CONTROL_LEVEL, UDP);
                controls.set(ValueLayout.JAVA_INT, control + CONTROL_TYPE, UDP_SEGMENT);
                controls.set(ValueLayout.JAVA_SHORT, control + CONTROL_DATA, (short) length);
                controlBytes = CONTROL_BYTES;
            }
            var trafficClass = buffers[i].flow() >>> PacketBuffer.CLASS_SHIFT;
            if (trafficClass != 0) {
                trafficClass(control + controlBytes, buffers[i].isIpv4(), trafficClass);
                controlBytes += CONTROL_BYTES;
            }
            control(messages, controlBytes);
            messages++;
        }
        return messages;
    }

    private void trafficClass(long control, boolean isIpv4, int value) {
        controls.set(ValueLayout.JAVA_LONG, control, CONTROL_DATA + Integer.BYTES);
        controls.set(ValueLayout.JAVA_INT, control + CONTROL_LEVEL, isIpv4 ? IP : IPV6);
        controls.set(ValueLayout.JAVA_INT, control + CONTROL_TYPE, isIpv4 ? IP_TOS : IPV6_TCLASS);
        controls.set(ValueLayout.JAVA_INT, control + CONTROL_DATA, value);
    }

    /** Creates a message with one packet. Returns the index of the next buffer. */
    private int single(int index) {
        part(index, index, buffers[index].length());
        return index + 1;
    }

    /**
     * Creates one GSO message from as many packets as possible. Returns the index of the first
     * buffer after the message.
     */
    private int combine(int first, int limit) {
        var length = buffers[first].length();
        var next = first + 1;
        if (next < limit
                && buffers[next].length() > length
                && isAcknowledgement(buffers[first])
                && haveSamePath(first, next)) {
            // Only the last packet of a message may be shorter than the others, so the two packets
            // are exchanged. Their order is irrelevant, because one is an acknowledgement and the
            // other a request.
            part(first, next, buffers[next].length());
            part(next, first, length);
            return next + 1;
        }
        single(first);
        var total = length;
        while (next < limit
                && next - first < MAX_PACKETS
                && buffers[next].length() <= length
                && total + buffers[next].length() <= MESSAGE_BYTES
                && haveSamePath(first, next)) {
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

    private boolean haveSamePath(int first, int second) {
        return buffers[first].flow() == buffers[second].flow()
                && buffers[first].destinationLow() == buffers[second].destinationLow()
                && buffers[first].destinationHigh() == buffers[second].destinationHigh();
    }

    /**
     * Returns the index of the first buffer after the packets of a message that {@link #combine}
     * has created.
     */
    int end(int message) {
        return ends[message];
    }

    /**
     * Returns the number of bytes received in a buffer, or -1 if the message was truncated. Also
     * resets the length of the socket address, which the kernel has overwritten, for the next
     * message.
     */
    int received(int index) {
        var header = index * BYTES;
        var flags = headers.get(ValueLayout.JAVA_INT, header + FLAGS);
        headers.set(ValueLayout.JAVA_INT, header + NAME_LENGTH, (int) NAME_BYTES);
        return (flags & TRUNCATED) != 0 ? -1 : headers.get(ValueLayout.JAVA_INT, header + LENGTH);
    }

    /**
     * Returns the length of each packet in a GRO message, of which the last may be shorter; returns
     * 0 if the message is a single packet. Also resets the length of the control message for the
     * next message.
     */
    int packetBytes(int index) {
        var length = headers.get(ValueLayout.JAVA_LONG, index * BYTES + CONTROL_LENGTH);
        headers.set(ValueLayout.JAVA_LONG, index * BYTES + CONTROL_LENGTH, CONTROLS_BYTES);
        var control = index * CONTROLS_BYTES;
        return length >= CONTROL_DATA + Integer.BYTES
                        && controls.get(ValueLayout.JAVA_INT, control + CONTROL_LEVEL) == UDP
                        && controls.get(ValueLayout.JAVA_INT, control + CONTROL_TYPE) == UDP_GRO
                ? controls.get(ValueLayout.JAVA_INT, control + CONTROL_DATA)
                : 0;
    }

    /**
     * Returns the packet at an offset of a received GRO message. The packets of a message must be
     * requested in order, because the check of a packet overwrites the end of the previous one. The
     * caller must ensure that {@code length} is at most {@link PacketBuffer#MAX_BYTES}.
     */
    PacketBuffer packet(
            int index, int offset, int length, long destinationHigh, long destinationLow) {
        var buffer = buffers[index];
        var name = index * NAME_BYTES;
        buffer.range(PacketBuffer.START + offset, length);
        buffer.sourcePort(SocketAddress.port(names, name));
        buffer.addresses(
                SocketAddress.high(names, name),
                SocketAddress.low(names, name),
                destinationHigh,
                destinationLow);
        return buffer;
    }
}
