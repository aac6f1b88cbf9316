package org.jrdma.soft.sisci.fabric;

import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.device.DeviceIdentity;

/**
 * A device that a process of the fabric lends. All nodes find a device by its id, which consists of
 * the node and the slot.
 *
 * @param node the node of the device
 * @param slot the number of the device among the devices of the node, from 1 to {@link #MAX_SLOT}
 * @param identity the identity of the device
 * @param state whether the device can be borrowed
 */
public record LentDeviceDescription(
        int node, int slot, DeviceIdentity identity, LendingState state) {

    static final int MAX_SLOT = 255;

    private static final int SLOT_BITS = 8;

    public long id() {
        return id(node, slot);
    }

    static long id(ObjectAnnouncementFile device) {
        return id(device.node(), device.number());
    }

    private static long id(int node, int slot) {
        return (long) node << SLOT_BITS | slot;
    }

    /** Extracts the node from a fabric device id, which may be invalid. */
    static long nodeOf(long id) {
        return id >>> SLOT_BITS;
    }

    /** Extracts the slot from a fabric device id. */
    static int slotOf(long id) {
        return (int) id & MAX_SLOT;
    }
}
