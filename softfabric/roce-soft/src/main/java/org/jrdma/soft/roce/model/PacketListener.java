package org.jrdma.soft.roce.model;

/** A listener that sees the packets of a device. */
@FunctionalInterface
public interface PacketListener {

    /**
     * Receives each packet: a packet to be sent after {@link NetworkFaults} were applied, a packet
     * that they dropped, or an incoming packet before it is processed. Calls are serialized, may
     * come on any thread, and block the device: an implementation must neither wait nor call the
     * fabric.
     */
    void seen(TracedPacket packet);
}
