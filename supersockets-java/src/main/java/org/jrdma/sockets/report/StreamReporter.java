package org.jrdma.sockets.report;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.SocketAddress;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.sockets.internal.SmcFallbackQuery;
import org.jrdma.sockets.model.Connection;

/**
 * Reports one open stream to {@link OpenStreams} and to the flight recorder, from when it is
 * connected until it is closed. Safe for use by multiple threads.
 */
public final class StreamReporter {

    private final SocketAddress local;
    private final SocketAddress peer;
    private final boolean accepted;
    private final Path chosen;
    private final PathQuery query;
    private final Instant since = Instant.now();
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong sent = new AtomicLong();
    private final ClosedConnectionEvent event = new ClosedConnectionEvent();
    private final WeakReference<StreamReporter> reference = new WeakReference<>(this);

    /**
     * The transport of a stream, and the reasons why no more preferred transport is used.
     *
     * @param transport the name of the transport
     * @param whyNotFaster the transports that are preferred to it, each with the reason why it is
     *     not used
     */
    public record Path(String transport, List<String> whyNotFaster) {}

    @FunctionalInterface
    public interface PathQuery {

        /**
         * Returns the transport that the stream uses at the time of the call.
         *
         * @throws IOException if the stream is closed
         */
        Path query(SmcFallbackQuery smc) throws IOException;
    }

    private StreamReporter(
            SocketAddress local,
            SocketAddress peer,
            boolean accepted,
            Path chosen,
            PathQuery query) {
        this.local = local;
        this.peer = peer;
        this.accepted = accepted;
        this.chosen = chosen;
        this.query = query;
    }

    /**
     * Reports that a stream is connected.
     *
     * @param chosen the transport over which the stream was connected
     * @param query returns the transport that the stream uses now. It is called for each report,
     *     because the transport may change later.
     */
    public static StreamReporter open(
            SocketAddress local,
            SocketAddress peer,
            boolean accepted,
            Path chosen,
            PathQuery query) {
        var report = new StreamReporter(local, peer, accepted, chosen, query);
        OpenStreams.add(report.reference);
        report.event.begin();
        for (var preferred : chosen.whyNotFaster) {
            FallbackEvent.commit(report.connection(chosen), preferred);
        }
        return report;
    }

    /** Counts bytes that the program has read. */
    public void addReceived(long bytes) {
        received.addAndGet(bytes);
    }

    /** Counts bytes that the program has written. */
    public void addSent(long bytes) {
        sent.addAndGet(bytes);
    }

    /** Returns the connection of the stream; empty if the stream is closed. */
    public Optional<Connection> connection(SmcFallbackQuery smc) {
        try {
            return Optional.of(connection(query.query(smc)));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private Connection connection(Path path) {
        return new Connection(
                local,
                peer,
                accepted,
                path.transport,
                String.join("; ", path.whyNotFaster),
                received.get(),
                sent.get(),
                since);
    }

    /** Reports that the stream is closed. */
    public void close() {
        OpenStreams.remove(reference);
        event.closed(connection(chosen));
    }
}
