package org.jrdma.soft.roce;

import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.PacketListener;
import org.jspecify.annotations.Nullable;

/**
 * A device in software, with the controls that no adapter has: network faults, the link state, and
 * a packet listener. Safe for use by multiple threads.
 */
public final class SoftDevice {

    private final DeviceObject device;

    SoftDevice(DeviceObject device) {
        this.device = device;
    }

    /** The name to open the device by, such as {@code soft0}. */
    public String name() {
        return device.name();
    }

    /** Injects network faults from now on. */
    public void faults(NetworkFaults faults) {
        device.faults(faults);
    }

    /** The network faults injected since the device was created, across all opens. */
    public NetworkFaultCounts faultCounts() {
        return device.faultCounts();
    }

    /** Sets the listener that sees the packets of this device; null for none. */
    public void listen(@Nullable PacketListener listener) {
        device.listen(listener);
    }

    /** Connects the link. Programs that have the device open receive an event. */
    public void linkUp() {
        device.linkUp(true);
    }

    /** Disconnects the link: no packet is sent or received until {@link #linkUp}. */
    public void linkDown() {
        device.linkUp(false);
    }

    @Override
    public String toString() {
        return device.toString();
    }
}
