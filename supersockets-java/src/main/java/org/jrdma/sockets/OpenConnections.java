package org.jrdma.sockets;

import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Optional;
import org.jrdma.sockets.channel.StreamChannel;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.ConnectionsMXBean;
import org.jrdma.sockets.model.ConnectionsSnapshot;
import org.jrdma.sockets.report.OpenStreams;
import org.jrdma.sockets.report.SuperSocketsCounters;

/**
 * The open streams of this process, each with the transport that it uses. Streams that were opened
 * through the selector provider are included.
 *
 * <p>Listeners are not streams and are not listed. The {@code toString} method of a listener's
 * channel reports the transports over which clients can reach the listener, and why other
 * transports are unavailable. The connection of an accepted stream reports the transport that the
 * client used.
 *
 * <p>The same data are available over JMX through {@link ConnectionsMXBean}, and in a file through
 * {@link ConnectionsSnapshot}. Safe for use by multiple threads. No method waits for a peer.
 */
public final class OpenConnections {

    private OpenConnections() {}

    /** Returns all open streams, the oldest first. */
    public static List<Connection> all() {
        return OpenStreams.all();
    }

    /**
     * Returns the connection of a channel.
     *
     * @throws IllegalArgumentException if the channel is not connected, or was not created by this
     *     module
     */
    public static Connection of(SocketChannel channel) {
        if (!(channel instanceof StreamChannel stream)) {
            throw new IllegalArgumentException(
                    "%s is a channel of another provider".formatted(channel));
        }
        return stream.connection()
                .orElseThrow(() ->
                        new IllegalArgumentException("%s is not connected".formatted(channel)));
    }

    /**
     * Returns a report of all open streams, grouped by peer like the output of {@code beegfs-net}:
     *
     * <pre>{@code
     * storage01
     *    supersockets: 4 (to 8003); 1,024 bytes received, 4,096 sent; since 2026-11-22T11:00:00Z
     *    tcp: 1 (to 8003) [fallback: supersockets: ...]; 0 bytes received, 64 sent; since ...
     *    tcp: 2 (at 9000); 64 bytes received, 64 sent; since ...
     * }</pre>
     *
     * <p>In each line, "to" is followed by the port of the peer, or "at" by the local port to which
     * the peer connected. "since" is followed by the time when the oldest connection of the line
     * was established.
     */
    public static String report() {
        return OpenStreams.snapshot(false).report();
    }

    /**
     * Returns the counters of the SuperSockets driver. The driver counts the traffic of all
     * programs of this machine since the driver was loaded. The counters show how much traffic went
     * over PCIe.
     *
     * <p>The text is the output of Dolphin's {@code dis_ssocks_stat -G}. This method searches for
     * the program on the PATH, in /opt/DIS/bin and in /opt/DIS/sbin, and waits at most five seconds
     * for it.
     *
     * @return the output of the program, or a message with the reason if the program fails; empty
     *     if the program is not installed
     */
    public static Optional<String> superSocketsCounters() {
        return SuperSocketsCounters.installed().read();
    }
}
