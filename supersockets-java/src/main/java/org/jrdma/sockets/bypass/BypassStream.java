package org.jrdma.sockets.bypass;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jrdma.sockets.internal.ByteStream;
import org.jrdma.sockets.internal.ReadinessSource;

/** One end of a stream over a transport without a kernel socket. */
public abstract class BypassStream extends ReadinessSource implements ByteStream {

    @Override
    public abstract void shutdownInput();

    @Override
    public abstract void shutdownOutput();

    /**
     * Closes this end. No thread may be sending or receiving. Does not block.
     *
     * @param reset true if the peer must see a reset instead of the end of the stream, if the
     *     transport supports resets
     */
    public abstract void close(boolean reset);

    /**
     * Returns the local address of the stream if the transport has assigned one. Otherwise, the
     * stream has the local address of its channel.
     */
    public Optional<InetSocketAddress> localAddress() {
        return Optional.empty();
    }
}
