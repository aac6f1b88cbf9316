package org.jrdma.soft.sisci.host;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.LinuxCalls;

/**
 * A mapped part of a shared file. The mapping can be disconnected from the file ("cut") and
 * restored while other threads access it. While it is cut, loads return all ones and stores are
 * lost.
 *
 * <p>Safe for use by multiple threads.
 */
public final class Mapping {

    private static final long PAGE_BYTES = LinuxCalls.pageBytes();

    private final long address;
    private final long bytes;
    private final long offset;
    private final boolean writable;
    private boolean closed;

    private Mapping(long address, long bytes, long offset, boolean writable) {
        this.address = address;
        this.bytes = bytes;
        this.offset = offset;
        this.writable = writable;
    }

    /**
     * Maps a part of a file.
     *
     * @param offset the offset in the file, a multiple of the page size
     */
    public static Mapping of(int file, long offset, long bytes, boolean writable)
            throws FabricException {
        var rounded = wholePages(bytes);
        return new Mapping(
                SystemCalls.map(file, offset, rounded, writable), rounded, offset, writable);
    }

    /** Maps private memory that is filled with zeros. */
    public static Mapping anonymous(long bytes) throws FabricException {
        var rounded = wholePages(bytes);
        return new Mapping(SystemCalls.mapAnonymous(rounded), rounded, 0, true);
    }

    /** Rounds a size up to whole pages. */
    public static long wholePages(long bytes) {
        return Math.ceilDiv(bytes, PAGE_BYTES) * PAGE_BYTES;
    }

    /** Returns true if an address or size is a multiple of the page size. */
    public static boolean isPageAligned(long position) {
        return position % PAGE_BYTES == 0;
    }

    public long address() {
        return address;
    }

    public MemorySegment memory() {
        return Downcalls.memoryAt(MemorySegment.ofAddress(address), bytes);
    }

    public synchronized void cut() throws FabricException {
        if (closed) {
            return;
        }
        var ones = SystemCalls.mapAnonymous(bytes);
        Downcalls.memoryAt(MemorySegment.ofAddress(ones), bytes).fill((byte) -1);
        SystemCalls.move(ones, address, bytes, writable);
    }

    public synchronized void restore(int file) throws FabricException {
        if (!closed) {
            SystemCalls.mapAt(address, file, offset, bytes, writable);
        }
    }

    /** Unmaps the memory, which must not be accessed afterwards. */
    public synchronized void close() {
        if (!closed) {
            closed = true;
            SystemCalls.unmap(address, bytes);
        }
    }

    /**
     * Replaces memory of this process with a mapping of a file, and keeps the contents. Concurrent
     * stores of other threads may be lost.
     */
    public static void shareInPlace(int file, long address, long bytes) throws FabricException {
        var copy = SystemCalls.map(file, 0, bytes, true);
        copy(address, copy, bytes);
        SystemCalls.unmap(copy, bytes);
        SystemCalls.mapAt(address, file, 0, bytes, true);
    }

    /**
     * Reverses {@link #shareInPlace}: replaces the mapping of a file with private memory of this
     * process, and keeps the contents.
     */
    public static void unshareInPlace(long address, long bytes) throws FabricException {
        var own = SystemCalls.mapAnonymous(bytes);
        copy(address, own, bytes);
        SystemCalls.move(own, address, bytes, true);
    }

    private static void copy(long from, long to, long bytes) {
        Downcalls.memoryAt(MemorySegment.ofAddress(to), bytes)
                .copyFrom(Downcalls.memoryAt(MemorySegment.ofAddress(from), bytes));
    }
}
