package org.jrdma.soft.sisci;

import org.jrdma.soft.sisci.fabric.OfferedDevice;

/**
 * A device that a {@link SoftSisci} lends to the processes of its fabric. It is available when it
 * is created, and is withdrawn when this object is closed or the library leaves the fabric.
 *
 * <p>Safe for use by multiple threads.
 */
public final class LentDevice implements AutoCloseable {

    private final OfferedDevice device;

    LentDevice(OfferedDevice device) {
        this.device = device;
    }

    /**
     * Returns the id of this device in the fabric, which contains the id of the node and the number
     * of the device at the node.
     */
    public long fabricDeviceId() {
        return device.fabricDeviceId();
    }

    /** Returns the number of current borrows. A process can borrow a device several times. */
    public int borrowers() {
        return device.borrows();
    }

    /**
     * Returns the number of memory accesses of this device that were refused: no borrower had
     * mapped the memory for the device, or the link to the memory was cut.
     */
    public long refusedAccesses() {
        return device.refusedAccesses();
    }

    /** Permits new borrows again after {@link #makeUnavailable}. */
    public void makeAvailable() {
        device.makeAvailable(true);
    }

    /** Refuses new borrows. Processes that have borrowed this device keep it. */
    public void makeUnavailable() {
        device.makeAvailable(false);
    }

    /**
     * Withdraws this device. Its borrowers lose their connections to it, and it does not access
     * their memory any more when this method returns.
     */
    @Override
    public void close() {
        device.close();
    }
}
