package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/** Sends the packets of an engine to the network, from a limited number of buffers. */
public interface NetworkPacketSender {

    /**
     * Returns the buffer for the next packet, or null if no buffer is free. Repeated calls return
     * the same buffer until it is sent. If the result is null, the engine stops sending until the
     * next call of {@link Engine#transmit()}.
     */
    @Nullable PacketBuffer claim();

    /**
     * Sends the packet in the buffer that {@link #claim} returned last, after appending the
     * checksum. Must not call back into the engine.
     */
    void send(PacketBuffer packet);

    /**
     * Prepares the path to a remote address, for a queue pair that connects to it or for an address
     * handle.
     *
     * @param now the time of the engine
     */
    default void preparePath(RoceGid remote, long now) {}

    /**
     * Returns the number of bytes that may be in flight to a remote address. After a change, {@link
     * Engine#updatePaths} must be called.
     *
     * @param usual the usual capacity of a path
     */
    default long pathBytes(RoceGid remote, long usual) {
        return usual;
    }
}
