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
 * Who is connected how: the open streams of this process, those of the selector provider too. What
 * listens is no stream and not among them: by which ways it can be reached, and why not by others,
 * its channel's {@code toString} tells, and by which one a client came, the stream that was
 * accepted. The same over JMX: {@link ConnectionsMXBean}; in a file: {@link ConnectionsSnapshot}.
 * Safe for use by several threads; none of it waits for a peer.
 */
public final class Connections {

    private Connections() {}

    /** All that are open, the oldest first. */
    public static List<Connection> all() {
        return OpenStreams.all();
    }

    /**
     * One of them.
     *
     * @throws IllegalArgumentException if it is not connected, or a channel of another provider
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
     * All that are open, by their peers, as {@code beegfs-net} has it:
     *
     * <pre>{@code
     * storage01
     *    supersockets: 4 (to 8003); 1,024 bytes received, 4,096 sent; since 2026-11-22T11:00:00Z
     *    tcp: 1 (to 8003) [fall-back: supersockets: ...]; 0 bytes received, 64 sent; since ...
     *    tcp: 2 (at 9000); 64 bytes received, 64 sent; since ...
     * }</pre>
     *
     * "to" has the peer's port, "at" our own that the peer connected to, "since" the oldest.
     */
    public static String report() {
        return OpenStreams.snapshot(false).report();
    }

    /**
     * What the driver of SuperSockets has counted since it was loaded, for all programs of this
     * machine, as its own program prints it: {@code dis_ssocks_stat -G}, looked for on the path and
     * below /opt/DIS. It tells how much really went over PCIe. Waits for the program, for five
     * seconds at most.
     *
     * @return empty where there is no such program; its last words where it fails
     */
    public static Optional<String> superSocketsCounters() {
        return DriverCounters.installed().read();
    }
}
