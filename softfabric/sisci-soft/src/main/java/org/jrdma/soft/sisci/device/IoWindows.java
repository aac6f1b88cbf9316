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

    /** The base two logarithm of the number of I/O addresses of a borrower. */
    static final int BITS = 40;

    private static final long OFFSET_MASK = (1L << BITS) - 1;
    private static final long PAGE_BYTES = 4096;

    private final int borrower;

    /** Sorted by offset, because offsets are assigned in ascending order and are never reused. */
    private final List<Window> windows = new ArrayList<>();

    /** The next offset to assign. An address of 0 within the range remains invalid. */
    private long nextOffset = PAGE_BYTES;

    private boolean refusalLogged;

    /** Mapped memory. */
    record Window(long offset, MemorySegment memory, DeviceHost.Signal signal, boolean reachable) {

        /** Returns true if the whole range lies in this window, and the memory can be reached. */
        boolean contains(long first, long bytes) {
            return reachable && first - offset <= memory.byteSize() - bytes;
        }
    }

    IoWindows(int borrower) {
        this.borrower = borrower;
    }

    /** Returns the number of the borrower to whose range an address belongs. */
    static long borrowerAt(long address) {
        return address >>> BITS;
    }

    /** Maps memory and returns its I/O address, or 0 if no addresses are left. */
    long map(MemorySegment memory, DeviceHost.Signal signal) {
        var bytes = memory.byteSize();
        if (bytes > OFFSET_MASK - nextOffset) {
            return 0;
        }
        var offset = nextOffset;
        windows.add(new Window(offset, memory, signal, true));
        // An unmapped page follows, so that an access beyond the window does not hit the next one.
        nextOffset += Math.ceilDiv(bytes, PAGE_BYTES) * PAGE_BYTES + PAGE_BYTES;
        return ((long) borrower << BITS) + offset;
    }

    /** Unmaps the memory at an I/O address. Returns false if no window starts there. */
    boolean unmap(long address) {
        return windows.removeIf(window -> window.offset() == (address & OFFSET_MASK));
    }

    /**
     * Permits or refuses accesses to the memory at an I/O address. Returns false if no window
     * starts there.
     */
    boolean setReachable(long address, boolean reachable) {
        for (var i = 0; i < windows.size(); i++) {
            var window = windows.get(i);
            if (window.offset() == (address & OFFSET_MASK)) {
                windows.set(
                        i,
                        new Window(window.offset(), window.memory(), window.signal(), reachable));
                return true;
            }
        }
        return false;
    }

    /** Returns the window that contains a range of I/O addresses, or null. */
    @Nullable Window find(long address, long bytes) {
        var offset = address & OFFSET_MASK;
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
                return window.contains(offset, bytes) ? window : null;
            }
        }
        return null;
    }

    /** Returns the offset of an address in its window. */
    static long offsetIn(Window window, long address) {
        return (address & OFFSET_MASK) - window.offset();
    }

    /** Returns true for the first call, so that one refusal of each borrower is logged. */
    boolean isFirstRefusal() {
        var first = !refusalLogged;
        refusalLogged = true;
        return first;
    }
}
