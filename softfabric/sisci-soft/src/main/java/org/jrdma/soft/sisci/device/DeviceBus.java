package org.jrdma.soft.sisci.device;

import java.lang.foreign.MemorySegment;

/**
 * Gives a device access to its BARs and, by DMA, to the memory that its borrowers have mapped for
 * it. Every borrower has a range of I/O addresses of its own. An access outside the mapped memory
 * is refused and counted, and copies nothing.
 *
 * <p>May be used only by a {@link DeviceModel}, while one of its methods runs.
 */
public interface DeviceBus {

    /** The result for an address that belongs to no borrower. */
    int NO_BORROWER = 0;

    /**
     * Returns the memory of a BAR. Borrowers access the same memory at any time.
     *
     * @throws IllegalArgumentException if the device has no such BAR
     */
    MemorySegment bar(int number);

    /**
     * Returns the number of the borrower whose range of I/O addresses contains an address, or
     * {@link #NO_BORROWER}. The memory at the address need not be mapped.
     */
    int borrowerAt(long address);

    /**
     * Copies memory of a borrower to the device.
     *
     * @return false if a byte of the range is not mapped
     */
    boolean read(long address, MemorySegment target);

    /**
     * Copies from the device to memory of a borrower. A borrower that sees the data of this call
     * also sees the data of all earlier calls. Up to 64 bytes at an address that is a multiple of 8
     * arrive in words of 8 bytes, in ascending order.
     *
     * @return false if a byte of the range is not mapped
     */
    boolean write(long address, MemorySegment source);

    /**
     * Stores 4 bytes into memory of a borrower, and triggers the interrupt that the borrower has
     * attached to this memory, if any. A device uses this method for message-signaled interrupts.
     *
     * @return false if the address is not a multiple of 4, or the memory is not mapped
     */
    boolean signal(long address, int data);
}
