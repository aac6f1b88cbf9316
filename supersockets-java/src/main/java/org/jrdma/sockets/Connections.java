package org.jrdma.sockets;

import java.lang.ref.WeakReference;
import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.sockets.internal.SmcSockets;

/**
 * Who is connected how: the open streams of this process, those of the selector provider too. What
 * listens is no stream and not among them: by which ways it can be reached, and why not by others,
 * its channel's {@code toString} tells, and by which one a client came, the stream that was
 * accepted. The same over JMX: {@link ConnectionsMXBean}; in a file: {@link ConnectionsSnapshot}.
 * Safe for use by several threads; none of it waits for a peer.
 */
public final class Connections {

    /** Weak, for a stream that a program forgets to close is to be no greater leak than it is. */
    private static final Set<WeakReference<StreamChannel>> OPEN = ConcurrentHashMap.newKeySet();

    private Connections() {}

    /** All that are open, the oldest first. */
    public static List<Connection> all() {
        OPEN.removeIf(reference -> reference.refersTo(null));
        var smc = new SmcSockets();
        return OPEN.stream()
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .flatMap(channel -> channel.connection(smc).stream())
                .sorted(Comparator.comparing(Connection::since))
                .toList();
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
        return stream.connection(new SmcSockets())
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
        return ConnectionsSnapshot.ofThisProcess(false).report();
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

    /** A stream is connected; what it gets is for {@link #remove}. */
    static WeakReference<StreamChannel> add(StreamChannel channel) {
        var reference = new WeakReference<>(channel);
        OPEN.add(reference);
        FirstConnection.made();
        return reference;
    }

    static void remove(WeakReference<StreamChannel> reference) {
        OPEN.remove(reference);
    }
}
