package org.jrdma.volume.client;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.CoordinatorConnector.Route;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.jrdma.volume.protocol.SoftwareVersion;
import org.jrdma.volume.protocol.StatusReportEncoding;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The session of a client with the coordinator. It continues with the next coordinator after a
 * takeover: the client reports its leases, and repeats its requests, which are executed once.
 *
 * <p>Safe for use by multiple threads.
 */
final class ClientSession {

    private static final Logger LOG = LoggerFactory.getLogger(ClientSession.class);
    private static final long ANY_SESSION = 0;
    private static final int MAX_SERVERS = 100;
    private static final int MAX_ADDRESS_BYTES = 500;

    /** Writes the values of a request. */
    @FunctionalInterface
    interface Body {
        void encode(org.jrdma.volume.metadata.Encoder encoder) throws VolumeException;
    }

    /** A connection to a coordinator that knows the session. */
    private record Attached(Route route, long session) {
        ServerConnector.Connection connection() {
            return route.connection();
        }
    }

    private final ClientOptions options;

    /** Guarded by {@link #connecting}. */
    private final CoordinatorConnector coordinators;

    private final SessionFileCallbacks files;
    private final DriveRegistration registration;
    private final VolumeIdentity volume;
    private final RetryTimeout retry;
    private final ConnectLock connecting = new ConnectLock();
    private final Thread heartbeats;
    private final RequestNumbers numbers = new RequestNumbers();
    private final AtomicReference<@Nullable Attached> attached = new AtomicReference<>();
    private volatile long session;
    private volatile Duration timeout = Duration.ofSeconds(1);
    private volatile List<List<String>> dataServers = List.of();
    private volatile boolean isClosed;

    /** Counts the connections to coordinators. Increases before the leases are reported. */
    private final AtomicLong term = new AtomicLong();

    /** The time until which the coordinator does not end the session. */
    private volatile long validUntil = System.nanoTime();

    private volatile Supplier<DataPathState> dataPath =
            () ->
                    new DataPathState(
                            DataPathState.Kind.NONE, Optional.empty(), "the client starts", 0);

    /**
     * @param volume the identity of the volume, which this session completes
     * @param drive the drive; empty if there is no path to one
     */
    ClientSession(
            ClientOptions options,
            ServerConnector connector,
            SessionFileCallbacks files,
            VolumeIdentity volume,
            Optional<Drive> drive,
            RetryTimeout retry,
            Deadline deadline)
            throws FabricException {
        this.options = options;
        this.retry = retry;
        this.registration =
                new DriveRegistration(
                        options.name(),
                        drive.filter(_ -> options.isRegistering()).map(Drive::fence));
        this.volume = volume;
        this.coordinators =
                new CoordinatorConnector(options, connector, files::recall, this::start);
        this.files = files;
        this.heartbeats =
                Thread.ofPlatform()
                        .daemon()
                        .name("volume-heartbeat-" + options.name())
                        .unstarted(this::sendHeartbeats);
        var _ = attached(deadline);
        heartbeats.start();
    }

    /** Returns the registration of this client at its drive. */
    DriveRegistration registration() {
        return registration;
    }

    /**
     * Lets the coordinator exclude this client from the drive. Writes that the drive has not
     * executed then take no effect, although the drive may still receive them.
     */
    void excludeFromDrive() throws FabricException {
        if (registration.isRegistered()) {
            call(Operation.EXCLUDE, _ -> {}).end();
            registration.excluded();
        }
    }

    /** Returns the number of the session, which changes when the session was lost. */
    long id() {
        return session;
    }

    /**
     * Returns a number that changes when the client connects to a coordinator, and when the session
     * ends. If it has changed during a request for a lease, blocks or a lock, the coordinator may
     * no longer know what was granted.
     */
    long term() {
        return term.get();
    }

    /** Returns the addresses of the nodes that serve blocks. */
    List<List<String>> dataServers() {
        return dataServers;
    }

    /**
     * Returns the drive of the coordinator, for the writes of a client that this node serves.
     *
     * @param client the session of the client
     */
    RedirectedDrive coordinatorDrive(long client, long blocks) throws VolumeException {
        var current = attached.get();
        if (current == null) {
            throw new VolumeException("This node is not connected to a coordinator");
        }
        return RedirectedDrive.ofCoordinator(current.connection(), client, blocks, timeout);
    }

    /** Reports a path to the data to the coordinator from now on. */
    void report(Supplier<DataPathState> path) {
        dataPath = path;
    }

    /** Returns the connections of this client. */
    ClientReport state() {
        var current = attached.get();
        return new ClientReport(
                options.name(),
                SoftwareVersion.text(),
                current == null
                        ? new ConnectionDescription(List.of(), "none", "not connected", List.of())
                        : current.connection().state(),
                current == null ? Optional.empty() : current.route().redirection(),
                dataPath.get());
    }

    /**
     * Returns true if the coordinator can not have ended the session, so that the client may use
     * the drives.
     */
    boolean isValid() {
        return System.nanoTime() - validUntil < 0;
    }

    /**
     * Waits until the session is valid.
     *
     * @throws VolumeException if no coordinator responds in time
     */
    void awaitValid() throws FabricException {
        if (!isValid()) {
            var deadline = retry.deadline();
            while (!isValid()) {
                var _ = heartbeat(deadline);
            }
        }
    }

    /** Sends a request that can be executed again without harm. */
    Decoder call(Operation operation, Body body) throws FabricException {
        return call(ANY_SESSION, operation, 0, body);
    }

    /** Sends a request that the coordinator executes once. */
    Decoder callOnce(Operation operation, Body body) throws FabricException {
        return callOnce(ANY_SESSION, operation, body);
    }

    /** Sends a request that the coordinator executes once, and only in the given session. */
    Decoder callOnce(long onlyIn, Operation operation, Body body) throws FabricException {
        var number = numbers.begin();
        try {
            return call(onlyIn, operation, number, body);
        } finally {
            numbers.end(number);
        }
    }

    private Decoder call(long onlyIn, Operation operation, long number, Body body)
            throws FabricException {
        var deadline = retry.deadline();
        var firstSession = onlyIn;
        while (true) {
            var current = attached(deadline);
            if (firstSession != ANY_SESSION && firstSession != current.session() && number != 0) {
                throw new VolumeException(
                        Failure.SESSION_LOST,
                        "The session ended before or during %s. It is unknown whether it was executed."
                                .formatted(operation));
            }
            firstSession = current.session();
            var encoder =
                    new RequestHeader(
                                    operation, current.session(), number, numbers.firstUnanswered())
                            .encoder();
            body.encode(encoder);
            ByteBuffer reply;
            try {
                reply =
                        current.connection()
                                .call(ByteBuffer.wrap(encoder.bytes()), options.callTimeout());
            } catch (FabricException e) {
                detach(current, e);
                pause(deadline, operation, e);
                continue;
            }
            if (ReplyEncoding.isRetry(reply)) {
                pause(deadline, operation, null);
                continue;
            }
            try {
                var decoder = ReplyEncoding.decode(reply);
                retry.succeeded();
                return decoder;
            } catch (VolumeException e) {
                if (e.failure() == Failure.NOT_COORDINATOR) {
                    detach(current, e);
                } else if (e.failure() == Failure.SESSION_LOST) {
                    lose(current, deadline);
                } else {
                    throw e;
                }
                pause(deadline, operation, e);
            }
        }
    }

    private void pause(Deadline deadline, Operation operation, @Nullable FabricException cause)
            throws FabricException {
        checkOpen();
        RequestRetry.pause(deadline, operation, cause);
    }

    private void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("The volume is closed");
        }
    }

    /** Closes a failed connection, so that the next request connects again. */
    private void detach(Attached failed, FabricException reason) {
        if (attached.compareAndSet(failed, null)) {
            LOG.info("{} lost its coordinator: {}", options.name(), reason.getMessage());
        }
        CoordinatorConnector.closeLater(failed.connection());
    }

    private void lose(Attached lost, Deadline deadline) throws FabricException {
        CoordinatorConnector.closeLater(lost.connection());
        connecting.lock(deadline);
        try {
            if (session == lost.session()) {
                sessionLost();
                attached.set(null);
            }
        } finally {
            connecting.unlock();
        }
    }

    private void sessionLost() {
        LOG.warn("{} has lost session {}", options.name(), Long.toHexString(session));
        validUntil = System.nanoTime();
        term.incrementAndGet(); // before the files forget what the session had
        session = 0;
        registration.selectKey();
        files.sessionLost();
    }

    private Attached attached(Deadline deadline) throws FabricException {
        var current = attached.get();
        if (current != null) {
            return current;
        }
        connecting.lockForAttempts(deadline);
        try {
            for (current = attached.get(); current == null; current = attached.get()) {
                checkOpen();
                try {
                    attach(coordinators.tryNext(connectTimeout()));
                    connecting.attempted(null);
                } catch (FabricException e) {
                    connecting.attempted(e);
                    if (session == 0 && e instanceof OtherVolumeException) {
                        throw e; // another attempt cannot succeed
                    }
                    pause(deadline, Operation.HELLO, e);
                }
            }
            return current;
        } finally {
            connecting.unlock();
        }
    }

    private void attach(Route route) {
        var current = new Attached(route, session);
        attached.set(current);
        route.redirection()
                .ifPresent(redirection -> {
                    LOG.info(
                            "{} sends its requests to {}, because it does not reach the coordinator: {}",
                            options.name(),
                            redirection.server(),
                            redirection.reason());
                    CoordinatorConnector.probe(
                            options.name(),
                            () -> attached.get() == current && !isClosed,
                            () -> replace(current));
                });
    }

    /** Replaces a redirection if this client reaches the coordinator itself. */
    private void replace(Attached redirected) throws FabricException {
        var connection = coordinators.open(redirected.route().coordinator(), connectTimeout());
        connecting.lock();
        try {
            // the session does not continue over both connections
            if (isClosed || !attached.compareAndSet(redirected, null)) {
                CoordinatorConnector.closeLater(connection);
                return;
            }
            CoordinatorConnector.closeLater(redirected.connection());
            attach(coordinators.startDirect(connection));
            LOG.info("{} reaches the coordinator again", options.name());
        } finally {
            connecting.unlock();
        }
    }

    /** Starts or continues the session. */
    private void start(ServerConnector.Connection connection) throws FabricException {
        try {
            hello(connection);
        } catch (VolumeException e) {
            if (e.failure() != Failure.SESSION_LOST || session == 0) {
                throw e;
            }
            sessionLost();
            hello(connection);
        }
    }

    /** Returns the longest time for an attempt to connect to one server. */
    Duration connectTimeout() {
        return session == 0 ? options.callTimeout() : coordinators.connectTimeout(timeout);
    }

    private void hello(ServerConnector.Connection connection) throws FabricException {
        var started = System.nanoTime();
        var request = RequestHeader.of(Operation.HELLO, session).encoder();
        request.writeLong(registration.key());
        request.writeText(options.name());
        request.writeList(options.ownAddresses(), org.jrdma.volume.metadata.Encoder::writeText);
        var reply = decode(connection, request.bytes());
        var id = reply.readLong();
        var isTakeover = reply.readBoolean();
        var epoch = reply.readLong();
        timeout = Duration.ofMillis(reply.readLong());
        volume.check(new UUID(reply.readLong(), reply.readLong()));
        term.incrementAndGet();
        registration.register(epoch);
        if (isTakeover) {
            for (var report : files.reports()) {
                var encoder = RequestHeader.of(report.operation(), id).encoder();
                encoder.writeAll(report.body());
                var _ = decode(connection, encoder.bytes());
            }
            var _ = decode(connection, RequestHeader.of(Operation.RECLAIMED, id).encoder().bytes());
        }
        session = id;
        validUntil = started + timeout.toNanos();
        LOG.info(
                "{} is connected to the coordinator of epoch {} over {}",
                options.name(),
                epoch,
                connection.transport());
    }

    private Decoder decode(ServerConnector.Connection connection, byte[] request)
            throws FabricException {
        return ReplyEncoding.decode(
                connection.call(ByteBuffer.wrap(request), options.callTimeout()));
    }

    private void sendHeartbeats() {
        while (!isClosed) {
            try {
                Thread.sleep(timeout.dividedBy(4));
                var _ = heartbeat(Deadline.after(timeout));
            } catch (FabricException e) {
                LOG.debug("{} has no coordinator: {}", options.name(), e.getMessage());
            } catch (InterruptedException | IllegalStateException e) {
                return; // close()
            }
        }
    }

    private boolean heartbeat(Deadline deadline) throws FabricException {
        var current = attached(deadline);
        var started = System.nanoTime();
        try {
            var request = RequestHeader.of(Operation.HEARTBEAT, current.session()).encoder();
            StatusReportEncoding.encode(request, state());
            var reply = decode(current.connection(), request.bytes());
            dataServers =
                    reply.readList(
                            MAX_SERVERS,
                            server ->
                                    server.readList(
                                            MAX_SERVERS,
                                            address -> address.readText(MAX_ADDRESS_BYTES)));
            if (session == current.session()) {
                validUntil = Math.max(validUntil, started + timeout.toNanos());
            }
            return true;
        } catch (FabricException e) {
            if (e instanceof VolumeException known && known.failure() == Failure.SESSION_LOST) {
                lose(current, deadline);
            } else {
                detach(current, e);
            }
        }
        pause(deadline, Operation.HEARTBEAT, null);
        return false;
    }

    /**
     * Closes the connection. The client no longer uses the drives.
     *
     * @param isEnding true to end the session. Otherwise, the coordinator ends it later, after it
     *     has excluded this client from the drive
     */
    void close(boolean isEnding) {
        isClosed = true;
        heartbeats.interrupt();
        connecting.lock();
        try {
            var current = attached.get();
            if (current != null) {
                try (var connection = current.connection()) {
                    if (isEnding) {
                        var goodbye = RequestHeader.of(Operation.GOODBYE, session).message();
                        var _ = connection.call(goodbye, timeout);
                    }
                } catch (FabricException e) {
                    LOG.debug("The coordinator ends the session later: {}", e.getMessage());
                }
            }
        } finally {
            connecting.unlock();
        }
    }
}
