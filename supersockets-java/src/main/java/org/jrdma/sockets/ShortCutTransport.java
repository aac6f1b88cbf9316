package org.jrdma.sockets;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.OwnAddress;
import org.jrdma.sockets.internal.ShortCutConnecting;
import org.jrdma.sockets.internal.ShortCutDoor;

/**
 * A way past the kernel's sockets. A channel has a socket of TCP besides, which keeps its port, its
 * options, and what it is for a peer that cannot be reached this way.
 */
non-sealed interface ShortCutTransport extends Transport {

    /**
     * Something that connects, once it is {@linkplain ShortCutConnecting#begin begun}.
     *
     * @param receiveBuffer how much the program wants to have room for; 0 if it does not say
     * @param own finds out this side's address; called on another thread
     * @param refused told of the reason, on that thread, before there is an outcome
     * @throws FabricException if this machine cannot use it
     */
    ShortCutConnecting connect(
            InetSocketAddress address, int receiveBuffer, OwnAddress own, Consumer<String> refused)
            throws FabricException;

    /**
     * Lets peers in at an address; as {@link #connect}. May block for a moment.
     *
     * @throws FabricException if this machine cannot use it; with EADDRINUSE for its code if the
     *     port is not free
     */
    ShortCutDoor listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException;

    /** For how long who waits spins before it sleeps; 30 microseconds, as SuperSockets have it. */
    default long spinNanos() {
        return 1_000 * Math.max(0, Long.getLong("jrdma.sockets." + name() + ".spin", 30));
    }
}
