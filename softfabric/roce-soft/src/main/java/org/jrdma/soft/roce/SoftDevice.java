package org.jrdma.soft.roce;

import org.jrdma.soft.roce.abi.verbs.DeviceObject;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.PacketListener;
import org.jspecify.annotations.Nullable;

/**
 * An RDMA device implemented in software. This class controls functions that a hardware adapter
 * does not have: it injects network faults, sets the link state, and registers a packet listener.
 * Safe for use by multiple threads.
 */
public final class SoftDevice {

    private final DeviceObject device;

    SoftDevice(DeviceObject device) {
        this.device = device;
    }

    /** The device name, such as {@code soft0}, under which programs find and open the device. */
    public String name() {
        return device.name();
    }

    /**
     * Sets the network faults that are injected into the packets that this device sends from now
     * on. They replace the previous settings.
     */
    public void faults(NetworkFaults faults) {
        device.faults(faults);
    }

    /**
     * The numbers of packets affected by network faults since the device was created. The counts
     * continue when the device is closed and opened again.
     */
    public NetworkFaultCounts faultCounts() {
        return device.faultCounts();
    }

    /**
     * Sets the listener that is called for each packet of this device. It replaces the previous
     * listener.
     *
     * @param listener the listener; null to remove the current one
     */
    public void listen(@Nullable PacketListener listener) {
        device.listen(listener);
    }

    /**
     * Sets the link state to up. Each context that has the device open receives the event {@code
     * IBV_EVENT_PORT_ACTIVE} if the link was down.
     */
    public void linkUp() {
        device.linkUp(true);
    }

    /**
     * Sets the link state to down: the device neither sends nor receives packets until {@link
     * #linkUp} is called. Each context that has the device open receives the event {@code
     * IBV_EVENT_PORT_ERR} if the link was up.
     */
    public void linkDown() {
        device.linkUp(false);
    }

    @Override
    public String toString() {
        return device.toString();
    }
}
