package org.jrdma.sockets;

import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Optional;
import org.jrdma.sockets.channel.StreamChannel;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.ConnectionsMXBean;
import org.jrdma.sockets.model.ConnectionsSnapshot;
import org.jrdma.sockets.report.DriverCounters;
import org.jrdma.sockets.report.OpenStreams;

/**
 * The open streams of this process and the transport of each, including streams of the selector
 * provider.
 *
 * <p>Listeners are not streams and are not listed. The {@code toString} method of a listener's
 * channel reports the transports by which clients can reach it and why others are unavailable. The
 * connection of an accepted stream reports the transport that the client used.
 *
 * <p>These data are also available over JMX through {@link ConnectionsMXBean}, and in a file
 * through {@link ConnectionsSnapshot}. Safe for use by multiple threads. No method waits for a
 * peer.
 */
public final class Connections {

    private Connections() {}

    /** Returns all open streams, the oldest first. */
    public static List<Connection> all() {
        return OpenStreams.all();
    }

    /**
     * Returns the connection of a channel.
     *
     * @throws IllegalArgumentException if the channel is not connected, or belongs to another
     *     provider
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
     * <p>"to" precedes the peer's port, "at" the local port that the peer connected to, and "since"
     * the start of the oldest connection.
     */
    public static String report() {
        return OpenStreams.snapshot(false).report();
    }

    /**
     * Returns the counters of the SuperSockets driver. The driver counts the traffic of all
     * programs of this machine since it was loaded; the counters show how much traffic went over
     * PCIe.
     *
     * <p>The text is the output of Dolphin's {@code dis_ssocks_stat -G}, which is searched for on
     * the path and below /opt/DIS. Waits at most five seconds for that program.
     *
     * @return the output of the program; empty if it is not installed; its error output if it fails
     */
    public static Optional<String> superSocketsCounters() {
        return DriverCounters.installed().read();
    }
}
