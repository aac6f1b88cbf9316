package org.jrdma.soft.sisci.host;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.Linux;

/**
 * A part of a shared file in this process's memory, which can be cut from the file and mended,
 * while others load and store: cut, it reads as all ones, and what is stored goes nowhere.
 *
 * <p>Safe for use by multiple threads.
 */
public final class Mapping {

    private static final long PAGE_BYTES = Linux.pageBytes();

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
     * @param offset a multiple of the page size
     */
    public static Mapping of(int file, long offset, long bytes, boolean writable)
            throws FabricException {
        var rounded = wholePages(bytes);
        return new Mapping(Host.map(file, offset, rounded, writable), rounded, offset, writable);
    }

    /** Memory of this process alone, zeroed. */
    public static Mapping anonymous(long bytes) throws FabricException {
        var rounded = wholePages(bytes);
        return new Mapping(Host.mapAnonymous(rounded), rounded, 0, true);
    }

    /** So many bytes in whole pages. */
    public static long wholePages(long bytes) {
        return Math.ceilDiv(bytes, PAGE_BYTES) * PAGE_BYTES;
    }

    /** Whether something can begin there. */
    public static boolean isAtPage(long position) {
        return position % PAGE_BYTES == 0;
    }

    /** The address. */
    public long address() {
        return address;
    }

    /** Its memory. */
    public MemorySegment memory() {
        return Downcalls.memoryAt(MemorySegment.ofAddress(address), bytes);
    }

    /** Cuts it from its file. */
    public synchronized void cut() throws FabricException {
        if (closed) {
            return;
        }
        var ones = Host.mapAnonymous(bytes);
        Downcalls.memoryAt(MemorySegment.ofAddress(ones), bytes).fill((byte) -1);
        Host.move(ones, address, bytes, writable);
    }

    /** Undoes {@link #cut()}. */
    public synchronized void restore(int file) throws FabricException {
        if (!closed) {
            Host.mapAt(address, file, offset, bytes, writable);
        }
    }

    /** Ends it. Nobody may use it any more. */
    public synchronized void close() {
        if (!closed) {
            closed = true;
            Host.unmap(address, bytes);
        }
    }

    /**
     * Puts a file in the place of memory of this process, keeping what is in it. What another
     * thread stores meanwhile may be lost.
     */
    public static void shareInPlace(int file, long address, long bytes) throws FabricException {
        var copy = Host.map(file, 0, bytes, true);
        copy(address, copy, bytes);
        Host.unmap(copy, bytes);
        Host.mapAt(address, file, 0, bytes, true);
    }

    /** Undoes that: the memory is this process's own again. */
    public static void unshareInPlace(long address, long bytes) throws FabricException {
        var own = Host.mapAnonymous(bytes);
        copy(address, own, bytes);
        Host.move(own, address, bytes, true);
    }

    private static void copy(long from, long to, long bytes) {
        Downcalls.memoryAt(MemorySegment.ofAddress(to), bytes)
                .copyFrom(Downcalls.memoryAt(MemorySegment.ofAddress(from), bytes));
    }
}
