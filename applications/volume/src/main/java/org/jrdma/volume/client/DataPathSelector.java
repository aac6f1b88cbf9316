package org.jrdma.volume.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.model.BufferInUseException;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Selects the path to the data: direct while the drive works, otherwise redirected to a data
 * server. An access that fails is repeated over the next path, so that a program notices no error.
 * When the drive works again, the direct path is used again, and when a preferred transport to the
 * data server works again, that transport. Each switch is logged with its reason.
 */
final class DataPathSelector implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DataPathSelector.class);
    private static final Duration RETRY_PAUSE = Duration.ofMillis(20);

    private final ClientOptions options;
    private final ServerConnector connector;
    private final ClientSession session;
    private final RetryTimeout retry;
    private final @Nullable Drive direct;
    private final long blocks;
    private final Consumer<VolumeException> onDataLost;
    private final LateWrites lateWrites;
    private volatile @Nullable DirectOrRedirectedDataPath current;

    /**
     * The pause before a probe. It grows while the drive can be read and fails soon, as a drive
     * does that refuses the writes of this node.
     */
    private volatile ProbePause probePause = ProbePause.FIRST;

    /** The time of the last return to the direct path. */
    private long directSince = System.nanoTime() - 2 * ProbePause.LAST.nanos();

    /** The start of the access that has failed over the last path. */
    private long failedSince;

    /** The time of the last attempt to use a preferred transport. */
    private volatile long preferredAt = directSince;

    /** The pause before the next attempt to use a preferred transport. It grows. */
    private volatile ProbePause preferredPause = ProbePause.FIRST;

    private volatile boolean isClosed;
    private volatile String reason;
    private final AtomicInteger switches = new AtomicInteger();
    private final Thread prober;
    private int nextServer;

    /** False until the first path of a client without a drive. */
    private boolean hasHadPath;

    /** The connection of the last redirection, which may still be in use. */
    private @Nullable Drive spare;

    /**
     * @param direct the drive; empty if this node has no path to it
     * @param blocks the number of blocks of the drive
     * @param onDataLost is called if data of any file was lost that was not durable
     */
    DataPathSelector(
            ClientOptions options,
            ServerConnector connector,
            ClientSession session,
            RetryTimeout retry,
            Optional<Drive> direct,
            long blocks,
            Consumer<VolumeException> onDataLost) {
        this.options = options;
        this.connector = connector;
        this.session = session;
        this.retry = retry;
        this.direct = direct.orElse(null);
        this.blocks = blocks;
        this.onDataLost = onDataLost;
        this.lateWrites = new LateWrites(session);
        this.current = direct.map(DirectOrRedirectedDataPath.Direct::new).orElse(null);
        this.hasHadPath = direct.isPresent();
        this.reason = direct.isPresent() ? "the client has started" : "the client has no drive";
        this.prober =
                Thread.ofPlatform()
                        .daemon()
                        .name("volume-probe-" + options.name())
                        .unstarted(this::probe);
        prober.start();
    }

    /** Returns the current path and the reason of the last switch, for messages. */
    String describe() {
        return "%s (%s)".formatted(current, reason);
    }

    /** Returns the current path, the reason of the last switch and the number of switches. */
    DataPathState state() {
        var path = current;
        return switch (path) {
            case null -> state(DataPathState.Kind.NONE, Optional.empty());
            case DirectOrRedirectedDataPath.Direct _ ->
                    state(DataPathState.Kind.DIRECT, Optional.empty());
            case DirectOrRedirectedDataPath.Redirected redirected ->
                    state(DataPathState.Kind.REDIRECTED, Optional.of(redirected.connection()));
        };
    }

    private DataPathState state(
            DataPathState.Kind kind, Optional<ConnectionDescription> connection) {
        return new DataPathState(kind, connection, reason, switches.get());
    }

    /**
     * Reads blocks.
     *
     * @param lease the session that the lease for the blocks belongs to
     */
    void read(long lease, long block, MemorySegment target) throws FabricException {
        run(lease, false, drive -> drive.read(block, target));
    }

    /**
     * Writes blocks.
     *
     * @param lease the session that the lease for the blocks belongs to
     */
    void write(long lease, long block, MemorySegment source) throws FabricException {
        run(lease, true, drive -> drive.write(block, source));
    }

    /**
     * Makes the writes durable that were completed before.
     *
     * @throws VolumeException with {@link Failure#DATA_LOST} if that is impossible, although a
     *     flush over another path could succeed. The loss was reported for all files
     */
    void flush() throws FabricException {
        try {
            run(0, false, Drive::flush);
        } catch (VolumeException e) {
            if (e.failure() == Failure.DATA_LOST) {
                onDataLost.accept(e);
            }
            throw e;
        }
    }

    @FunctionalInterface
    private interface Access {
        void run(Drive drive) throws FabricException;
    }

    private void run(long lease, boolean isWrite, Access access) throws FabricException {
        var deadline = retry.deadline();
        while (true) {
            session.awaitValid();
            if (lease != 0 && lease != session.id()) { // after the session was found to be valid
                throw new VolumeException(
                        Failure.SESSION_LOST,
                        "The session ended, and with it the lease for the data");
            }
            var started = System.nanoTime();
            @Nullable DirectOrRedirectedDataPath path = null;
            try {
                path = path();
                if (run(path, lease, isWrite, access)) {
                    return;
                }
            } catch (FabricException | IllegalStateException e) {
                if (e instanceof VolumeException known && known.failure() == Failure.DATA_LOST) {
                    throw e;
                }
                if (path != null && !Thread.currentThread().isInterrupted()) {
                    failed(path, String.valueOf(e.getMessage()), started);
                }
                if (e instanceof BufferInUseException) { // a repetition would use the same memory
                    throw e;
                }
                if (isWrite && e instanceof MissingReplyException) {
                    // the data server may still execute the write, also after a later one; it has
                    // received the last part of the write at any time until the failure
                    sleepUninterruptibly(options.callTimeout());
                }
                if (isClosed || deadline.hasPassed()) {
                    throw deadline.missed(
                            "No path to the data works",
                            e instanceof FabricException cause
                                    ? cause
                                    : new VolumeException(String.valueOf(e.getMessage()), e));
                }
                pause();
            }
        }
    }

    /**
     * Prevents failed direct writes from taking effect later. Called before another client can
     * write to the same blocks.
     *
     * @throws FabricException if neither the drive nor the coordinator prevents it
     */
    void preventLateWrites() throws FabricException {
        if (direct != null) {
            lateWrites.prevent(direct, current instanceof DirectOrRedirectedDataPath.Direct);
        }
    }

    /** Returns false if the session or the lease has ended, so that there was no access. */
    private boolean run(DirectOrRedirectedDataPath path, long lease, boolean isWrite, Access access)
            throws FabricException {
        return switch (path) {
            case DirectOrRedirectedDataPath.Direct(var drive) -> {
                var lock = session.registration().access();
                lock.lock();
                try {
                    if (!session.isValid() || (lease != 0 && lease != session.id())) {
                        yield false;
                    }
                    access.run(drive);
                    yield true;
                } catch (Throwable e) {
                    if (isWrite) {
                        lateWrites.failed();
                    }
                    throw e;
                } finally {
                    lock.unlock();
                }
            }
            case DirectOrRedirectedDataPath.Redirected redirected -> {
                access.run(redirected.drive().in(lease == 0 ? session.id() : lease));
                yield true;
            }
        };
    }

    private static void sleepUninterruptibly(Duration duration) {
        var end = Deadline.after(duration);
        var isInterrupted = false;
        while (!end.hasPassed()) {
            try {
                Thread.sleep(Duration.ofNanos(end.remainingNanos()));
            } catch (InterruptedException _) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void pause() throws FabricException {
        try {
            Thread.sleep(RETRY_PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VolumeException("Interrupted while waiting for a path to the data", e);
        }
    }

    private DirectOrRedirectedDataPath path() throws FabricException {
        var path = current;
        return path != null ? path : redirect();
    }

    private synchronized DirectOrRedirectedDataPath redirect() throws FabricException {
        if (current != null) {
            return current;
        }
        var servers = otherServers();
        if (servers.isEmpty()) {
            if (direct != null) {
                switchTo(new DirectOrRedirectedDataPath.Direct(direct), "no node serves blocks");
                return java.util.Objects.requireNonNull(current);
            }
            throw new VolumeException("No node serves the blocks of the volume");
        }
        // a write that has failed must not take effect after a later one
        session.excludeFromDrive();
        closeSpare();
        var addresses = servers.get(nextServer++ % servers.size());
        var path = redirect(addresses, addresses);
        if (System.nanoTime() - preferredAt > 2 * ProbePause.LAST.nanos()) {
            preferredPause = ProbePause.FIRST;
        }
        switchTo(path, reason);
        return path;
    }

    /**
     * Connects to a data server.
     *
     * @param server all addresses of the server
     * @param addresses those to use
     */
    private DirectOrRedirectedDataPath.Redirected redirect(
            List<String> server, List<String> addresses) throws FabricException {
        var connection =
                connector.connect(
                        addresses,
                        request -> request, // a data server sends no requests
                        options.callTimeout());
        return new DirectOrRedirectedDataPath.Redirected(
                new RedirectedDrive(connection, session.id(), blocks, options.callTimeout()),
                server);
    }

    private List<List<String>> otherServers() {
        return session.dataServers().stream()
                .filter(addresses -> !addresses.equals(options.ownAddresses()))
                .toList();
    }

    private void switchTo(DirectOrRedirectedDataPath path, String why) {
        var isPause = hasHadPath && current == null;
        LOG.info(
                "{} uses the path: {}{} ({})",
                options.name(),
                path,
                isPause ? pauseText() : "",
                why);
        if (hasHadPath) {
            switches.incrementAndGet();
        }
        hasHadPath = true;
        current = path;
        reason = why;
    }

    private String pauseText() {
        var seconds = (System.nanoTime() - failedSince) / 1e9;
        return String.format(Locale.ROOT, " after a pause of %.1f s", seconds);
    }

    private synchronized void failed(DirectOrRedirectedDataPath path, String why, long started) {
        if (current == path) {
            failedSince = started;
            LOG.info("{} leaves the path: {} ({})", options.name(), path, why);
            current = null;
            reason = why;
            switch (path) {
                case DirectOrRedirectedDataPath.Direct _ -> adaptProbePause();
                case DirectOrRedirectedDataPath.Redirected redirected ->
                        Thread.ofVirtual().start(redirected.drive()::close); // waits for transfers
            }
        }
    }

    private void adaptProbePause() {
        var isShort = System.nanoTime() - directSince < 2 * ProbePause.LAST.nanos();
        probePause = isShort ? probePause.next() : ProbePause.FIRST;
    }

    /** Uses the direct path, or a preferred transport, again when it works. */
    private void probe() {
        try {
            while (!isClosed) {
                Thread.sleep(Duration.ofNanos(probePause.nanos()));
                attempt(this::probeDirect);
                attempt(this::probePreferred);
            }
        } catch (InterruptedException e) {
            // close()
        }
    }

    @FunctionalInterface
    private interface Probe {
        void run() throws FabricException;
    }

    private static void attempt(Probe probe) {
        try {
            probe.run();
        } catch (FabricException | IllegalStateException e) {
            LOG.debug("The preferred path does not work: {}", e.getMessage());
        }
    }

    private void probeDirect() throws FabricException {
        if (direct == null) {
            return;
        }
        var isUsed = current instanceof DirectOrRedirectedDataPath.Direct;
        if (!isUsed) {
            try (var arena = Arena.ofConfined()) {
                direct.read(0, arena.allocate(Drive.BLOCK_BYTES));
            }
        }
        if (session.isValid()) {
            session.registration().registerIfFailed();
        }
        if (!isUsed) {
            returnToDirect(direct);
        }
    }

    private synchronized void returnToDirect(Drive drive) {
        returnTo(new DirectOrRedirectedDataPath.Direct(drive), "the drive works again");
        directSince = System.nanoTime();
    }

    /** Connects over the transports that did not work. */
    private void probePreferred() throws FabricException {
        if (!(current instanceof DirectOrRedirectedDataPath.Redirected path)
                || System.nanoTime() - preferredAt < preferredPause.nanos()) {
            return;
        }
        var unused = path.connection().unused();
        if (unused.isEmpty()) {
            return;
        }
        preferredAt = System.nanoTime();
        preferredPause = preferredPause.next();
        var server = path.server();
        var preferred =
                server.stream()
                        .filter(address ->
                                unused.stream()
                                        .anyMatch(reason -> reason.startsWith(address + ": ")))
                        .toList();
        replace(path, redirect(server, preferred));
    }

    private synchronized void replace(
            DirectOrRedirectedDataPath.Redirected former,
            DirectOrRedirectedDataPath.Redirected preferred) {
        if (current == former && !isClosed) {
            returnTo(preferred, "a preferred transport works again");
        } else {
            preferred.drive().close();
        }
    }

    private void returnTo(DirectOrRedirectedDataPath preferred, String why) {
        var former = current;
        switchTo(preferred, why);
        closeSpare();
        if (former instanceof DirectOrRedirectedDataPath.Redirected) {
            spare = former.drive(); // other threads may still use it
        }
    }

    private void closeSpare() {
        if (spare != null) {
            spare.close();
            spare = null;
        }
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        closeSpare();
        prober.interrupt();
        var path = current;
        if (path instanceof DirectOrRedirectedDataPath.Redirected) {
            path.drive().close();
        }
    }
}
