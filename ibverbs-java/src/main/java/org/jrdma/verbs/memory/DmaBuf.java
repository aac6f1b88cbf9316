package org.jrdma.verbs.memory;

import org.jrdma.ffi.linkage.OpenFile;

/**
 * Memory of a device that the kernel shares between drivers; see {@link
 * DeviceMemory#exportDmaBuf()}. The memory stays as long as this is open, or anyone has taken it.
 *
 * <p>Owned by who asked for it. Safe for use by several threads.
 */
public final class DmaBuf implements AutoCloseable {

    private final OpenFile file;

    DmaBuf(OpenFile file) {
        this.file = file;
    }

    /**
     * Its descriptor, to be given to a driver, as by {@link
     * org.jrdma.verbs.ProtectionDomain#registerDmaBuf} of another device. It is not the caller's to
     * close.
     *
     * @throws IllegalStateException if it is closed
     */
    public int descriptor() {
        return file.number();
    }

    /** Closes the descriptor. Closing twice is fine. Does not wait. */
    @Override
    public void close() {
        file.close();
    }
}
