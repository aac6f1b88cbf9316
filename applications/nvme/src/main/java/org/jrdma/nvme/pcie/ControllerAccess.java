package org.jrdma.nvme.pcie;

import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.MappedRegisters;

/**
 * Access to a controller. Safe for use by multiple threads.
 *
 * <p>The drive that was opened with this object must be closed first. {@link #close()} ends the
 * access of the controller to all memory, and then frees the memory that was not released.
 */
public interface ControllerAccess extends AutoCloseable {

    /** Returns the registers in BAR 0. */
    MappedRegisters registers();

    /**
     * Allocates zeroed memory that the controller can access.
     *
     * @param bytes the size, which is rounded up to pages of 4,096 bytes
     * @throws FabricException if the memory cannot be allocated or mapped for the controller
     */
    DmaAllocation allocate(long bytes) throws FabricException;

    /** Returns the name of the controller for messages. */
    @Override
    String toString();

    /** Ends the access. Closing again has no effect. */
    @Override
    void close();
}
