package org.jrdma.soft.sisci;

import java.util.List;
import org.jrdma.soft.sisci.device.DeviceIdentity;

/**
 * A device that a process of the fabric lends, at the time at which it was listed.
 *
 * @param fabricDeviceId the id by which all nodes find the device
 * @param lender the id of the node that lends the device
 * @param identity the identity of the device
 * @param isAvailable true if the lender permits new borrows
 * @param isExclusive true if the device is borrowed exclusively
 * @param borrowers the id of the node of each current borrow, in increasing order. A node that has
 *     borrowed the device several times occurs several times
 */
public record ListedDevice(
        long fabricDeviceId,
        int lender,
        DeviceIdentity identity,
        boolean isAvailable,
        boolean isExclusive,
        List<Integer> borrowers) {

    /** Creates a description. */
    public ListedDevice {
        borrowers = List.copyOf(borrowers);
    }

    /** Returns the number of current borrows. */
    public int borrows() {
        return borrowers.size();
    }
}
