package org.jrdma.sockets.report;

import java.lang.ref.WeakReference;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.sockets.internal.SmcFallbackQuery;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.ConnectionsMXBean.Line;
import org.jrdma.sockets.model.ConnectionsSnapshot;

/** The open streams of this process. Safe for use by multiple threads. */
public final class OpenStreams {

    /**
     * The open streams, by weak references, so that the garbage collector can free streams that the
     * program never closes.
     */
    private static final Set<WeakReference<StreamReporter>> OPEN = ConcurrentHashMap.newKeySet();

    private OpenStreams() {}

    static void add(WeakReference<StreamReporter> stream) {
        OPEN.add(stream);
        ReportStart.streamConnected();
    }

    static void remove(WeakReference<StreamReporter> stream) {
        OPEN.remove(stream);
    }

    /** Returns all open streams, the oldest first. */
    public static List<Connection> all() {
        OPEN.removeIf(reference -> reference.refersTo(null));
        var smc = new SmcFallbackQuery();
        return OPEN.stream()
                .map(WeakReference::get)
                .filter(Objects::nonNull)
                .flatMap(stream -> stream.connection(smc).stream())
                .sorted(Comparator.comparing(Connection::since))
                .toList();
    }

    /** Returns all open streams as lines for reports, the oldest first. */
    static List<Line> lines() {
        return all().stream().map(Line::of).toList();
    }

    public static ConnectionsSnapshot snapshot(boolean isLast) {
        return new ConnectionsSnapshot(
                ProcessHandle.current().pid(),
                System.getProperty("sun.java.command", "").split(" ", 2)[0],
                Instant.now(),
                isLast,
                lines());
    }
}
