package org.jrdma.spark;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Another executor, from which this executor reads. All its blocks are read over one channel by one
 * thread, which ends when it has been idle for a while. If a channel fails before all blocks are
 * read, it is replaced once before the blocks are left to Spark's own client. Safe for use by
 * multiple threads.
 */
final class PeerFetcher implements AutoCloseable {

    /** Connects to an executor. */
    interface Connector {
        RdmaChannel connect(String executor) throws IOException;
    }

    /**
     * The timeouts of a channel.
     *
     * @param idle the time for which the channel stays open without fetches
     * @param reply the time within which the other executor must answer
     */
    record Timeouts(Duration idle, Duration reply) {}

    private static final Logger LOG = LoggerFactory.getLogger(PeerFetcher.class);

    private static final int MAX_FAILURES = 2;

    private final String executor;
    private final Connector connector;
    private final PeerAvoidance avoidance;
    private final BlockBuffers buffers;
    private final Timeouts timeouts;
    private final ShuffleMetrics metrics;
    private final ThreadFactory threads;

    // Guarded by this.
    private final Queue<Fetch> submitted = new ArrayDeque<>();
    private @Nullable RdmaChannel channel;
    private boolean isRunning;
    private boolean isClosed;

    /** The fetches that are not done. Confined to the thread of this peer. */
    private final Set<Fetch> open = new LinkedHashSet<>();

    PeerFetcher(
            String executor,
            Connector connector,
            PeerAvoidance avoidance,
            BlockBuffers buffers,
            Timeouts timeouts,
            ShuffleMetrics metrics) {
        this(
                executor,
                connector,
                avoidance,
                buffers,
                timeouts,
                metrics,
                Thread.ofPlatform().daemon().name("jrdma-shuffle-fetch-" + executor).factory());
    }

    PeerFetcher(
            String executor,
            Connector connector,
            PeerAvoidance avoidance,
            BlockBuffers buffers,
            Timeouts timeouts,
            ShuffleMetrics metrics,
            ThreadFactory threads) {
        this.executor = executor;
        this.connector = connector;
        this.avoidance = avoidance;
        this.buffers = buffers;
        this.timeouts = timeouts;
        this.metrics = metrics;
        this.threads = threads;
    }

    /**
     * Starts to fetch blocks. If this method fails, for example with an {@link OutOfMemoryError}
     * because a thread cannot be started, this peer stays usable.
     */
    void submit(Fetch fetch) {
        synchronized (this) {
            if (!isClosed) {
                if (!isRunning) {
                    threads.newThread(this::run).start();
                    isRunning = true; // not earlier: the system may have too many threads
                    buffers.fetcherStarted();
                } else if (channel != null) {
                    channel.wake();
                }
                submitted.add(fetch); // before the thread of this peer gets the lock
                return;
            }
        }
        fetch.fail(new IOException("The executor is shutting down"));
    }

    private void run() {
        try {
            connectAndFetch();
        } finally {
            buffers.fetcherEnded();
        }
    }

    private void connectAndFetch() {
        var failures = 0;
        while (true) {
            @Nullable FetchSession session = null;
            try (var opened = connector.connect(executor)) {
                publish(opened);
                session = new FetchSession(opened, buffers, timeouts.reply(), metrics);
                open.forEach(session::add);
                fetch(session);
                succeeded(session);
                return;
            } catch (Throwable e) { // The channel is closed by now.
                publish(null);
                if (session != null) {
                    session.abandon();
                    succeeded(session);
                }
                open.removeIf(Fetch::isDone);
                if (open.isEmpty() && stop()) {
                    LOG.debug("The idle channel to executor {} has ended", executor, e);
                    return;
                }
                failures = session != null && session.hasDelivered() ? 1 : failures + 1;
                if (failures < maxFailures() && !(e instanceof PeerAddresses.NotListedException)) {
                    LOG.info("Reconnecting to executor {}: {}", executor, e.toString());
                } else if (giveUp(e)) {
                    return;
                }
            }
        }
    }

    private void succeeded(FetchSession session) {
        if (session.hasDelivered()) {
            avoidance.succeeded(executor);
        }
    }

    /** An executor that was avoided probably still fails, so there is only one attempt. */
    private int maxFailures() {
        return avoidance.hasFailed(executor) ? 1 : MAX_FAILURES;
    }

    /** Fetches until the thread was idle for a while. */
    private void fetch(FetchSession session) throws IOException {
        while (true) {
            for (var next = poll(); next != null; next = poll()) {
                open.add(next);
                session.add(next);
            }
            if (!session.advance(timeouts.idle()) && stop()) {
                return;
            }
            open.removeIf(Fetch::isDone);
        }
    }

    private synchronized @Nullable Fetch poll() {
        return submitted.poll();
    }

    private synchronized void publish(@Nullable RdmaChannel channel) {
        this.channel = channel;
        if (channel != null && isClosed) {
            channel.close();
        }
    }

    /** Ends the thread unless there are new fetches. */
    private synchronized boolean stop() {
        if (!submitted.isEmpty()) {
            return false;
        }
        isRunning = false;
        channel = null;
        return true;
    }

    /** Leaves all blocks to Spark's own client. */
    private boolean giveUp(Throwable cause) {
        for (var next = poll(); next != null; next = poll()) {
            open.add(next);
        }
        if (isClosed()) {
            open.forEach(fetch -> fetch.fail(cause));
        } else {
            avoid(cause);
            open.forEach(fetch -> fetch.leaveToStock(fetch.missing()));
        }
        open.clear();
        return stop();
    }

    private void avoid(Throwable cause) {
        if (cause instanceof PeerAddresses.NotListedException) {
            if (avoidance.avoidPermanently(executor)) {
                LOG.info("Blocks are read over TCP: {}", cause.getMessage());
            }
            return;
        }
        LOG.warn(
                "Cannot read from executor {} by RDMA. {} fetches continue over TCP: {}",
                executor,
                open.size(),
                cause.toString());
        avoidance.avoid(executor);
        metrics.add(Metric.CONNECTION_FAILURES, 1);
    }

    private synchronized boolean isClosed() {
        return isClosed;
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        if (channel != null) {
            channel.close();
        }
    }
}
