package org.jrdma.verbs.memory;

import org.jrdma.ffi.linkage.OpenFile;

/**
 * A dma-buf: a file descriptor for device memory that drivers of other devices can use; see {@link
 * DeviceMemory#exportDmaBuf()}. The memory stays allocated as long as this object is open or a
 * driver uses the memory.
 *
 * <p>Owned by the caller of {@code exportDmaBuf}, which must close it. Safe for use by multiple
 * threads.
 */
public final class ExportedDmaBuf implements AutoCloseable {

    private final OpenFile file;

    ExportedDmaBuf(OpenFile file) {
        this.file = file;
    }

    /**
     * The file descriptor, for a driver or for {@link
     * org.jrdma.verbs.ProtectionDomain#registerDmaBuf} on another device. The caller must not close
     * the descriptor itself.
     *
     * @throws IllegalStateException if this object is closed
     */
    public int descriptor() {
        return file.number();
    }

    /** Closes the file descriptor without blocking. Further calls have no effect. */
    @Override
    public void close() {
        file.close();
    }
}
