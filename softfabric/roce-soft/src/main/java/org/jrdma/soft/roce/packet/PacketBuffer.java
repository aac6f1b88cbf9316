package org.jrdma.soft.roce.packet;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Memory for one packet, with where it comes from and goes to. Reused from packet to packet.
 *
 * <p>In front of the packet there is room for the headers of IP and UDP as the checksum takes them,
 * so that one pass over contiguous bytes computes it. The socket neither sends nor receives that
 * room.
 *
 * <p>Addresses are GIDs: an IPv4 address in its IPv4-mapped form.
 */
public final class PacketBuffer {

    /** Where the packet begins in {@link #memory()}. */
    public static final int START = 64;

    /** The longest packet: all headers, the largest path MTU, the checksum. */
    public static final int MAXIMUM_BYTES =
            BaseTransportHeader.BYTES + AtomicHeader.BYTES + 4096 + 4 + InvariantCrc.BYTES;

    /** How much memory one takes. */
    public static final int MEMORY_BYTES = 4224;

    public static final int UDP_PORT = 4791;

    private final MemorySegment memory;
    private final ByteBuffer bytes;

    private int length;
    private long sourceHigh;
    private long sourceLow;
    private long destinationHigh;
    private long destinationLow;
    private int sourcePort = UDP_PORT;

    /** A buffer in {@code memory}, {@link #MEMORY_BYTES} of native memory. */
    public PacketBuffer(MemorySegment memory) {
        if (memory.byteSize() != MEMORY_BYTES || !memory.isNative()) {
            throw new IllegalArgumentException("not " + MEMORY_BYTES + " bytes of native memory");
        }
        this.memory = memory;
        this.bytes = memory.asByteBuffer();
    }

    /** A buffer in memory of its own. */
    public PacketBuffer() {
        this(Arena.ofAuto().allocate(MEMORY_BYTES, 64));
    }

    /** All of its memory; the packet is at {@link #START}. */
    public MemorySegment memory() {
        return memory;
    }

    /** The same bytes for {@link java.util.zip.CRC32}. */
    ByteBuffer bytes() {
        return bytes;
    }

    /** The length of the packet, checksum included. */
    public int length() {
        return length;
    }

    /** Says how long the packet is that now stands at {@link #START}. */
    public void length(int bytes) {
        if (bytes < 0 || bytes > MEMORY_BYTES - START) {
            throw new IllegalArgumentException("no room for a packet of " + bytes + " bytes");
        }
        length = bytes;
    }

    /** Says between which addresses it travels. */
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

    /** The UDP port it comes from. */
    public int sourcePort() {
        return sourcePort;
    }

    public void sourcePort(int port) {
        sourcePort = port;
    }

    /** Whether it travels over IPv4. */
    public boolean isIpv4() {
        return destinationHigh == 0 && destinationLow >>> 32 == 0xffff;
    }

    /** Copies packet, addresses and port. */
    public void copyFrom(PacketBuffer other) {
        MemorySegment.copy(other.memory, START, memory, START, other.length);
        length = other.length;
        sourcePort = other.sourcePort;
        addresses(other.sourceHigh, other.sourceLow, other.destinationHigh, other.destinationLow);
    }
}
