package org.jrdma.soft.roce.model;

/** A listener for the packets that a device sends, drops and receives. */
@FunctionalInterface
public interface PacketListener {

    /**
     * Called for each packet: an outgoing packet after {@link NetworkFaults} were applied to it, a
     * packet that they dropped, or an incoming packet before it is processed. Calls are serialized,
     * may be made by any thread, and block the device. An implementation must neither block nor
     * call the software fabric.
     */
    void seen(TracedPacket packet);
}
