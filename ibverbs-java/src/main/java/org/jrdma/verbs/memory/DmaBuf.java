package org.jrdma.verbs.memory;

import org.jrdma.ffi.linkage.OpenFile;

/**
 * Device memory that the kernel shares between drivers; see {@link DeviceMemory#exportDmaBuf()}.
 * The memory stays allocated while this object is open or a driver uses the memory.
 *
 * <p>Owned by the caller that exported it. Safe for use by multiple threads.
 */
public final class DmaBuf implements AutoCloseable {

    private final OpenFile file;

    DmaBuf(OpenFile file) {
        this.file = file;
    }

    /**
     * The file descriptor, for a driver or for {@link
     * org.jrdma.verbs.ProtectionDomain#registerDmaBuf} of another device. The caller must not close
     * it.
     *
     * @throws IllegalStateException if this object is closed
     */
    public int descriptor() {
        return file.number();
    }

    /** Closes the descriptor without blocking. Closing again has no effect. */
    @Override
    public void close() {
        file.close();
    }
}
