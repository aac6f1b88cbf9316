package org.jrdma.soft.roce.sharedmemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SealedMemory;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * The mapped memory of a ring, and its layout: the positions of the writer (tail) and of the reader
 * (head), each in a pair of cache lines of its own, and {@link #CAPACITY} bytes for records.
 * Positions count bytes and never decrease. A record consists of a description and a packet, and is
 * contiguous: if a record does not fit before the end of the memory, {@link #SKIP} is written
 * there, and the record is at the start. The reader writes the head, the writer all other values,
 * and both write the waiting flag.
 */
final class RingMemory implements AutoCloseable {

    /** The size of the memory for records, a power of two. */
    static final int CAPACITY = 1 << 21;

    /** The description of the rest of the memory, in which there is no record. */
    static final int SKIP = 0;

    /** A bit in the description of a packet: the packet has no valid checksum. */
    static final int UNSEALED = 1 << 31;

    /** Positions of records are multiples of this number. */
    private static final int ALIGNMENT = 8;

    private static final int DESCRIPTION_BYTES = 8;

    private static final long TAIL = 0;
    private static final long HEAD = 128;
    private static final long WAITING = 256;
    private static final long RECORDS = 4096;
    static final long BYTES = RECORDS + CAPACITY;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private final Arena arena;
    private final MemorySegment memory;

    private RingMemory(Arena arena, MemorySegment memory) {
        this.arena = arena;
        this.memory = memory;
    }

    /** Creates the memory of a ring. Returns its descriptor, which the caller must close. */
    static OpenFile create() throws FabricException {
        var file = OpenFile.of(SealedMemory.create("jrdma-roce-soft"));
        try {
            SealedMemory.reserve(file.number(), BYTES);
            return file;
        } catch (Throwable e) {
            file.close();
            throw e;
        }
    }

    /**
     * Maps the memory of a ring.
     *
     * @throws FabricException if the descriptor does not refer to memory of sufficient and final
     *     size
     */
    static RingMemory map(OpenFile file) throws FabricException {
        SealedMemory.check(file.number(), BYTES);
        var arena = Arena.ofShared();
        try {
            return new RingMemory(arena, LinuxCalls.mapFile(file.number(), 0, BYTES, arena));
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
    }

    /** Returns the number of bytes of the record of a packet. */
    static int recordBytes(int length) {
        return DESCRIPTION_BYTES + (length + ALIGNMENT - 1 & -ALIGNMENT);
    }

    /** Returns the number of bytes from a position to the end of the memory. */
    static int bytesToEnd(long position) {
        return CAPACITY - (int) (position & CAPACITY - 1);
    }

    /** Returns true if a number can be the number of bytes between the head and the tail. */
    static boolean isDistance(long bytes) {
        return bytes >= 0 && bytes <= CAPACITY && bytes % ALIGNMENT == 0;
    }

    private static long offset(long position) {
        return RECORDS + (position & CAPACITY - 1);
    }

    long tail() {
        return (long) LONG.getAcquire(memory, TAIL);
    }

    void tail(long position) {
        LONG.setRelease(memory, TAIL, position);
    }

    long head() {
        return (long) LONG.getAcquire(memory, HEAD);
    }

    void head(long position) {
        LONG.setRelease(memory, HEAD, position);
    }

    /** Sets or clears the waiting flag. Later reads are not performed before the write. */
    void waiting(boolean waiting) {
        INT.setVolatile(memory, WAITING, waiting ? 1 : 0);
        VarHandle.fullFence();
    }

    /**
     * Clears the waiting flag. Returns true if it was set. The read is not performed before earlier
     * writes.
     */
    boolean takeWaiting() {
        VarHandle.fullFence();
        return (int) INT.getOpaque(memory, WAITING) != 0
                && (int) INT.getAndSet(memory, WAITING, 0) != 0;
    }

    /** Returns the description at a position: the length of the packet, and {@link #UNSEALED}. */
    int description(long position) {
        return memory.get(ValueLayout.JAVA_INT, offset(position));
    }

    /** Marks the memory from a position to the end as unused. */
    void skip(long position) {
        memory.set(ValueLayout.JAVA_INT, offset(position), SKIP);
    }

    /** Writes the record of a packet, for which there must be space before the end. */
    void store(long position, PacketBuffer packet) {
        var offset = offset(position);
        memory.set(
                ValueLayout.JAVA_INT, offset, packet.length() | (packet.isSealed() ? 0 : UNSEALED));
        MemorySegment.copy(
                packet.memory(),
                packet.start(),
                memory,
                offset + DESCRIPTION_BYTES,
                packet.length());
    }

    /** Copies the packet of a record to the start of a packet buffer. */
    void load(long position, PacketBuffer packet, int length) {
        MemorySegment.copy(
                memory,
                offset(position) + DESCRIPTION_BYTES,
                packet.memory(),
                PacketBuffer.START,
                length);
        packet.length(length);
    }

    /** Unmaps the memory. */
    @Override
    public void close() {
        arena.close();
    }
}
