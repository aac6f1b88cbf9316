package org.jrdma.soft.roce;

import org.jrdma.soft.roce.abi.DeviceObject;
import org.jspecify.annotations.Nullable;

/**
 * What can be done to a device in software beside what can be done to any: make its network bad,
 * pull its cable, watch its packets. Safe for use by several threads.
 */
public final class SoftDevice {

    private final DeviceObject device;

    SoftDevice(DeviceObject device) {
        this.device = device;
    }

    /** The name to open it by, as {@code soft0}. */
    public String name() {
        return device.name();
    }

    /** Lets its network do to packets what {@code trouble} says, from now on. */
    public void trouble(Trouble trouble) {
        device.trouble(trouble);
    }

    /**
     * What its network has done to packets since the device was made, however often it was opened.
     */
    public TroubleCounts troubles() {
        return device.troubles();
    }

    /** Shows its packets to a listener; null for none. */
    public void listen(@Nullable PacketListener listener) {
        device.listen(listener);
    }

    /** Plugs its cable in. Programs that have it open hear of it as they would of an adapter. */
    public void linkUp() {
        device.linkUp(true);
    }

    /** Pulls its cable: nothing goes out or comes in any more. */
    public void linkDown() {
        device.linkUp(false);
    }

    @Override
    public String toString() {
        return device.toString();
    }
}
