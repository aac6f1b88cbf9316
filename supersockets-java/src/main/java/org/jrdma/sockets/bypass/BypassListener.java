package org.jrdma.sockets.bypass;

import java.net.InetSocketAddress;
import org.jrdma.sockets.internal.ReadinessSource;
import org.jspecify.annotations.Nullable;

/** Lets peers in at a port by a way past the kernel. Ready when one has come. */
public abstract class BypassListener extends ReadinessSource {

    /**
     * A connection that nobody has accepted yet.
     *
     * @param local the address that the peer connected to
     * @param remote the peer's own
     */
    public record Arrival(BypassStream stream, InetSocketAddress local, InetSocketAddress remote) {}

    /** The next connection; null if there is none now. */
    public abstract @Nullable Arrival poll();

    /**
     * Lets nobody in any more; who was not accepted is reset. The port is free when this returns,
     * which may take a moment.
     */
    public abstract void close();
}
