package org.jrdma.soft.sisci.device;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The range of I/O addresses of a borrower, and the memory that is mapped there. Not safe for use
 * by multiple threads.
 */
final class IoWindows {

    /** The number of bits of an I/O address within the range of one borrower. */
    static final int BITS = 40;

    private static final long OFFSET_MASK = (1L << BITS) - 1;
    private static final long PAGE_BYTES = 4096;

    private final int borrower;

    /** Sorted by offset, because offsets are assigned in ascending order and are never reused. */
    private final List<Window> windows = new ArrayList<>();

    /**
     * The offset for the next window. It starts after 0, so that an I/O address with the offset 0
     * is always invalid.
     */
    private long nextOffset = PAGE_BYTES;

    private boolean refusalLogged;

    /** A mapped memory range. */
    record Window(long offset, MemorySegment memory, DeviceHost.Signal signal, boolean reachable) {

        /**
         * Returns true if the whole range lies in this window and the link to the memory is not
         * cut.
         */
        boolean contains(long first, long bytes) {
            return reachable && first - offset <= memory.byteSize() - bytes;
        }

        /** Returns the offset of an I/O address in the memory. */
        long offsetOf(long address) {
            return (address & OFFSET_MASK) - offset;
        }
    }

    IoWindows(int borrower) {
        this.borrower = borrower;
    }

    /** Returns the number of the borrower to whose range an address belongs. */
    static long borrowerAt(long address) {
        return address >>> BITS;
    }

    /**
     * Maps memory and returns its I/O address.
     *
     * @throws IllegalStateException if no addresses are left
     */
    long map(MemorySegment memory, DeviceHost.Signal signal) {
        var bytes = memory.byteSize();
        if (bytes > OFFSET_MASK - nextOffset) {
            throw new IllegalStateException(
                    "Borrower %d has no I/O addresses left for %d bytes"
                            .formatted(borrower, bytes));
        }
        var offset = nextOffset;
        windows.add(new Window(offset, memory, signal, true));
        // An unmapped page follows, so that an access beyond the window does not hit the next one.
        nextOffset += Math.ceilDiv(bytes, PAGE_BYTES) * PAGE_BYTES + PAGE_BYTES;
        return ((long) borrower << BITS) + offset;
    }

    /**
     * Unmaps the memory at an I/O address.
     *
     * @throws IllegalStateException if no window starts there
     */
    void unmap(long address) {
        windows.remove(indexOf(address));
    }

    /**
     * Permits or refuses accesses to the memory at an I/O address.
     *
     * @throws IllegalStateException if no window starts there
     */
    void setReachable(long address, boolean reachable) {
        var index = indexOf(address);
        var window = windows.get(index);
        windows.set(
                index, new Window(window.offset(), window.memory(), window.signal(), reachable));
    }

    private int indexOf(long address) {
        var index = indexAt(address & OFFSET_MASK);
        if (borrowerAt(address) != borrower
                || index < 0
                || windows.get(index).offsetOf(address) != 0) {
            throw new IllegalStateException(
                    "Borrower %d has mapped no memory at 0x%x".formatted(borrower, address));
        }
        return index;
    }

    /** Returns the window that contains a range of I/O addresses, or null. */
    @Nullable Window find(long address, long bytes) {
        var offset = address & OFFSET_MASK;
        var index = indexAt(offset);
        return index >= 0 && windows.get(index).contains(offset, bytes) ? windows.get(index) : null;
    }

    /** Returns the index of the window that contains an offset, or -1. */
    private int indexAt(long offset) {
        var low = 0;
        var high = windows.size() - 1;
        while (low <= high) {
            var middle = (low + high) >>> 1;
            var window = windows.get(middle);
            if (window.offset() > offset) {
                high = middle - 1;
            } else if (offset - window.offset() >= window.memory().byteSize()) {
                low = middle + 1;
            } else {
                return middle;
            }
        }
        return -1;
    }

    /**
     * Returns true only for the first call, so that only one refusal of each borrower is logged.
     */
    boolean isFirstRefusal() {
        var first = !refusalLogged;
        refusalLogged = true;
        return first;
    }
}
