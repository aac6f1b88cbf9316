package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/** The link that an engine sends its packets to. */
public interface PacketLink {

    /**
     * Returns the buffer for the next packet, or null if none is free. Repeated calls return the
     * same buffer until it is sent. After null, the engine waits for the next call of {@link
     * Engine#transmit()}.
     */
    @Nullable PacketBuffer claim();

    /** Sends the packet in the buffer claimed last. Never calls back into the engine. */
    void send(PacketBuffer packet);
}
