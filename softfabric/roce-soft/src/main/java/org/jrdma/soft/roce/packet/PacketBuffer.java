package org.jrdma.soft.roce.packet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The memory of one packet, with the addresses of its source and destination. Buffers are reused.
 *
 * <p>The memory before the packet has space for the IP and UDP headers, which the ICRC covers, so
 * that the ICRC is computed in one pass over contiguous bytes. These headers are not passed to the
 * socket.
 *
 * <p>Addresses are GIDs. An IPv4 address is represented in its IPv4-mapped form.
 */
public final class PacketBuffer {

    /** The offset in {@link #memory()} of a packet that is to be sent. */
    public static final int START = 64;

    /**
     * The maximum length of a packet in bytes: the longest combination of headers, the maximum path
     * MTU and the checksum.
     */
    public static final int MAX_BYTES =
            BaseTransportHeader.BYTES + AtomicHeader.BYTES + 4096 + 4 + InvariantCrc.BYTES;

    /** The size of {@link #memory()} in bytes, if the buffer has memory for one packet. */
    public static final int MEMORY_BYTES = 4224;

    /** The position of the traffic class in {@link #flow()}, as in the header of IPv6. */
    public static final int CLASS_SHIFT = 20;

    /** The bits of the flow label in {@link #flow()}. */
    public static final int LABEL_MASK = (1 << CLASS_SHIFT) - 1;

    /** The destination UDP port of RoCE v2. */
    public static final int UDP_PORT = 4791;

    private final MemorySegment memory;
    private final ByteBuffer bytes;

    private int start = START;
    private int length;
    private long sourceHigh;
    private long sourceLow;
    private long destinationHigh;
    private long destinationLow;
    private int sourcePort = UDP_PORT;
    private int flow;
    private boolean sealed = true;

    /**
     * Creates a buffer in native memory of at least {@link #MEMORY_BYTES} bytes. With more memory,
     * the buffer can contain several received packets, of which it represents one at a time.
     */
    public PacketBuffer(MemorySegment memory) {
        if (memory.byteSize() < MEMORY_BYTES || !memory.isNative()) {
            throw new IllegalArgumentException(
                    "A packet buffer needs at least " + MEMORY_BYTES + " bytes of native memory.");
        }
        this.memory = memory;
        this.bytes = memory.asByteBuffer();
    }

    /** Creates a buffer in newly allocated memory. */
    public PacketBuffer() {
        this(Arena.ofAuto().allocate(MEMORY_BYTES, 64));
    }

    /** Returns the memory of the buffer, in which the packet begins at {@link #start()}. */
    public MemorySegment memory() {
        return memory;
    }

    /** Returns the offset of the packet in {@link #memory()}. */
    public int start() {
        return start;
    }

    /** Returns {@link #memory()} as a {@link ByteBuffer}, for {@link java.util.zip.CRC32}. */
    ByteBuffer bytes() {
        return bytes;
    }

    /**
     * Returns the length of the packet in bytes. For a complete packet, this includes the checksum.
     */
    public int length() {
        return length;
    }

    /** Sets the length in bytes of the packet, which begins at {@link #START}. */
    public void length(int bytes) {
        range(START, bytes);
    }

    /**
     * Sets the offset and the length in bytes of a received packet. The check of its ICRC
     * overwrites the {@link #START} bytes before the packet.
     */
    public void range(int offset, int bytes) {
        if (offset < START
                || bytes < 0
                || bytes > MEMORY_BYTES - START
                || offset + bytes > memory.byteSize()) {
            throw new IllegalArgumentException(
                    "Invalid range of a packet: %d bytes at %d".formatted(bytes, offset));
        }
        start = offset;
        length = bytes;
    }

    /** Sets the source and destination addresses of the packet. */
    public void addresses(
            long sourceHigh, long sourceLow, long destinationHigh, long destinationLow) {
        this.sourceHigh = sourceHigh;
        this.sourceLow = sourceLow;
        this.destinationHigh = destinationHigh;
        this.destinationLow = destinationLow;
    }

    public long sourceHigh() {
        return sourceHigh;
    }

    public long sourceLow() {
        return sourceLow;
    }

    public long destinationHigh() {
        return destinationHigh;
    }

    public long destinationLow() {
        return destinationLow;
    }

    /** Returns the source UDP port of the packet. */
    public int sourcePort() {
        return sourcePort;
    }

    public void sourcePort(int port) {
        sourcePort = port;
    }

    /**
     * Returns the traffic class, shifted by {@link #CLASS_SHIFT} bits, and the flow label with
     * which the packet is sent.
     */
    public int flow() {
        return flow;
    }

    /** Sets the {@link #flow()}. The flow of a received packet is not known. */
    public void flow(int trafficClassAndLabel) {
        flow = trafficClassAndLabel;
    }

    /**
     * Returns false if the packet has zeros instead of a checksum, because it passes only through
     * the memory of this machine.
     */
    public boolean isSealed() {
        return sealed;
    }

    public void sealed(boolean hasChecksum) {
        sealed = hasChecksum;
    }

    /** Returns true if the destination is an IPv4 address. */
    public boolean isIpv4() {
        return destinationHigh == 0 && destinationLow >>> 32 == 0xffff;
    }

    /** Copies a packet with its addresses, port and flow from another buffer to this one. */
    public void copyFrom(PacketBuffer other) {
        MemorySegment.copy(other.memory, other.start, memory, START, other.length);
        length(other.length);
        sourcePort = other.sourcePort;
        flow = other.flow;
        sealed = other.sealed;
        addresses(other.sourceHigh, other.sourceLow, other.destinationHigh, other.destinationLow);
    }
}
