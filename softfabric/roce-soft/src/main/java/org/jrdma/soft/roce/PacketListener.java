package org.jrdma.soft.roce;

/** Who sees the packets of a device. */
@FunctionalInterface
public interface PacketListener {

    /**
     * Told of each packet: one to be sent after what {@link Trouble} did to it, one that it lost,
     * one that came in before it is looked at. Calls come one after the other, on any thread, and
     * the device waits for their return: neither wait in it nor call the fabric.
     */
    void seen(TracedPacket packet);
}
