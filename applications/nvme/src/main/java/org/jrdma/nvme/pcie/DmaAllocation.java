package org.jrdma.nvme.pcie;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jrdma.nvme.model.Configuration;

/**
 * Memory that a controller can access. Every page of 4,096 bytes has an I/O address of its own.
 * Safe for use by multiple threads.
 */
public final class DmaAllocation {

    private final MemorySegment memory;
    private final long[] pageAddresses;
    private final Runnable release;

    /**
     * Describes allocated memory.
     *
     * @param memory whole pages, which all threads can access
     * @param pageAddresses the I/O address of each page
     * @param release unmaps and frees the memory; called at most once
     * @throws IllegalArgumentException if the number of pages differs from the number of addresses
     */
    public DmaAllocation(MemorySegment memory, long[] pageAddresses, Runnable release) {
        if (memory.byteSize() != (long) pageAddresses.length * Configuration.PAGE_BYTES) {
            throw new IllegalArgumentException(
                    "%d bytes of memory do not have %d pages"
                            .formatted(memory.byteSize(), pageAddresses.length));
        }
        this.memory = memory;
        this.pageAddresses = pageAddresses.clone();
        this.release = release;
    }

    /** Returns the addresses of memory with one contiguous range of I/O addresses. */
    public static long[] contiguous(long firstAddress, long bytes) {
        var addresses = new long[Math.toIntExact(bytes / Configuration.PAGE_BYTES)];
        for (var page = 0; page < addresses.length; page++) {
            addresses[page] = firstAddress + (long) page * Configuration.PAGE_BYTES;
        }
        return addresses;
    }

    /** Returns the memory. */
    public MemorySegment memory() {
        return memory;
    }

    /** Returns the I/O address of a page. */
    public long pageAddress(int page) {
        return pageAddresses[page];
    }

    /** Returns true if the I/O addresses of some pages are contiguous. */
    public boolean isContiguous(int firstPage, int pages) {
        for (var page = 1; page < pages; page++) {
            if (pageAddresses[firstPage + page]
                    != pageAddresses[firstPage] + (long) page * Configuration.PAGE_BYTES) {
                return false;
            }
        }
        return true;
    }

    /** Returns true if a range of I/O addresses contains a byte of a page. */
    public boolean overlaps(long address, long bytes) {
        return Arrays.stream(pageAddresses)
                .anyMatch(page ->
                        Long.compareUnsigned(page - address, bytes) < 0
                                || Long.compareUnsigned(address - page, Configuration.PAGE_BYTES)
                                        < 0);
    }

    /** Frees the memory. The caller must ensure that the controller does not access it any more. */
    public void release() {
        release.run();
    }
}
