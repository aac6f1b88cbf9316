package org.jrdma.soft.roce.model;

/** A listener that is called for the packets that a software device sends, drops and receives. */
@FunctionalInterface
public interface PacketListener {

    /**
     * Called for each packet of the device. An outgoing packet is reported after {@link
     * NetworkFaults} were applied to it, or when they drop it. An incoming packet is reported
     * before the device processes it.
     *
     * <p>The device calls this method on the thread that sends or receives the packet, but never on
     * two threads at the same time. The device does not continue until the method returns. An
     * implementation must neither block nor call the software fabric. An exception does not affect
     * the packet; only the first exception of a listener is logged.
     */
    void seen(TracedPacket packet);
}
