package org.jrdma.sockets.bypass;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jrdma.sockets.internal.ByteStream;
import org.jrdma.sockets.internal.ReadinessSource;

/** One end of a stream that bypasses the kernel's sockets. */
public abstract class BypassStream extends ReadinessSource implements ByteStream {

    @Override
    public abstract void shutdownInput();

    @Override
    public abstract void shutdownOutput();

    /**
     * Closes this end, which no thread may be using. Does not block.
     *
     * @param reset true if the peer should see a reset instead of the end of the stream, if the
     *     transport supports that
     */
    public abstract void close(boolean reset);

    /** Returns the local address, if the stream has one of its own. */
    public Optional<InetSocketAddress> localAddress() {
        return Optional.empty();
    }
}
