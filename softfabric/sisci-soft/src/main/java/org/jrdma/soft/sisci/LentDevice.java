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
     * Returns the number of accesses of this device to memory that no borrower had mapped for it,
     * or that was beyond a cut link.
     */
    public long refusedAccesses() {
        return device.refusedAccesses();
    }

    /** Permits new borrows again. */
    public void makeAvailable() {
        device.makeAvailable(true);
    }

    /** Refuses new borrows. Current borrows continue. */
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
