package org.jrdma.sockets;

import java.lang.ref.WeakReference;
import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/** Who is connected how: the open streams of this process, those of the selector provider too. */
public final class Connections {

    /** Weak, for a stream that a program forgets to close is to be no greater leak than it is. */
    private static final Set<WeakReference<StreamChannel>> OPEN = ConcurrentHashMap.newKeySet();

    private Connections() {}

    /** All that are open, the oldest first. */
    public static List<Connection> all() {
        OPEN.removeIf(reference -> reference.refersTo(null));
        return OPEN.stream()
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .flatMap(channel -> channel.connection().stream())
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
        return stream.connection()
                .orElseThrow(() ->
                        new IllegalArgumentException("%s is not connected".formatted(channel)));
    }

    /** A line for each that is open. */
    public static String report() {
        return all().stream().map(Connections::line).collect(Collectors.joining());
    }

    private static String line(Connection connection) {
        return "%s, since %s, %,d bytes received, %,d sent%n"
                .formatted(
                        connection,
                        connection.since(),
                        connection.bytesReceived(),
                        connection.bytesSent());
    }

    /** A stream is connected; what it gets is for {@link #remove}. */
    static WeakReference<StreamChannel> add(StreamChannel channel) {
        var reference = new WeakReference<>(channel);
        OPEN.add(reference);
        return reference;
    }

    static void remove(WeakReference<StreamChannel> reference) {
        OPEN.remove(reference);
    }
}
