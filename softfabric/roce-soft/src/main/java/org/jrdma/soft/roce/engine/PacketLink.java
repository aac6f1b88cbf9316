package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/** The link that an engine sends its packets to. */
public interface PacketLink {

    /**
     * A buffer for the next packet; the same again until it is sent. Null if there is none now; the
     * engine then waits to be asked to {@linkplain Engine#transmit() transmit} again.
     */
    @Nullable PacketBuffer claim();

    /** Sends the packet in the buffer claimed last. Never calls back into the engine. */
    void send(PacketBuffer packet);
}
