package org.jrdma.volume;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.ClientOptions;
import org.jrdma.volume.client.DriveBlockServer;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.RequestRelay;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.coordinator.Coordinator;
import org.jrdma.volume.coordinator.Takeover;
import org.jrdma.volume.drive.CoordinatorLease;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Superblock;
import org.jrdma.volume.metadata.VolumeCheck;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.ServerStatus;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.ConnectionLostException;
import org.jrdma.volume.net.NodeConnection;
import org.jrdma.volume.net.NodeListener;
import org.jrdma.volume.net.Request;
import org.jrdma.volume.net.RequestHandler;
import org.jrdma.volume.net.SkippedTransport;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.jrdma.volume.protocol.SoftwareVersion;
import org.jrdma.volume.protocol.StatusReportEncoding;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server of a volume: the coordinator, or a standby that takes over when the coordinator is lost.
 * It also serves blocks to clients that have no path to the drive, and a standby forwards the
 * requests of clients that do not reach the coordinator.
 */
public final class VolumeServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(VolumeServer.class);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration RETRY_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration RETRY_PAUSE = Duration.ofSeconds(1);
    private static final Duration LEASE_POLL_PAUSE = Duration.ofMillis(20);

    private final Drive drive;
    private final ServerOptions options;
    private final NodeListener listener;
    private final Takeover takeover;
    private final Thread blockServerStart;
    private volatile @Nullable VolumeClient client;
    private volatile @Nullable DriveBlockServer blocks;
    private volatile @Nullable RequestRelay relay;
    private volatile boolean isClosed;

    @SuppressWarnings("this-escape") // the listener serves requests when the fields are set
    private VolumeServer(Drive drive, ServerOptions options) throws IOException {
        this.drive = drive;
        this.options = options;
        this.takeover =
                new Takeover(
                        drive,
                        drive.fence(),
                        Fence.randomKey(),
                        options.lease(),
                        options.sessionTimeout());
        try {
            this.listener =
                    NodeListener.open(NodeConnector.withCalls(options.node()), new Requests());
        } catch (IOException e) {
            takeover.close();
            throw e;
        }
        this.blockServerStart =
                Thread.ofPlatform()
                        .daemon()
                        .name("volume-blocks-" + options.name())
                        .start(this::startBlockService);
    }

    /**
     * Creates an empty volume. A volume that the drive contains is lost. No server may use the
     * drive.
     *
     * @throws FabricException if the drive is too small or fails
     */
    public static void create(Drive drive) throws FabricException {
        // the drive may refuse the writes of all nodes but an earlier coordinator
        drive.fence().lead(Fence.randomKey(), 0);
        var _ = VolumeFormatter.create(drive);
    }

    /**
     * Returns true if a server uses a volume as its coordinator. Watches whether the record on the
     * drive that determines the coordinator changes. If the last coordinator has not released its
     * role, for example because its process was killed, this takes until the timeout.
     *
     * @param timeout the longest time to watch. A coordinator changes the record ten times per
     *     {@linkplain ServerOptions#lease lease}
     * @throws FabricException if the drive fails or contains no volume
     * @throws InterruptedException if the thread is interrupted
     */
    public static boolean isInUse(Drive drive, Duration timeout)
            throws FabricException, InterruptedException {
        var record = new CoordinatorLease(drive, Superblock.read(drive).leaseBlock());
        var deadline = Deadline.after(timeout);
        var first = record.read();
        var current = first;
        while (current.filter(content -> !content.isReleased()).isPresent()
                && !deadline.hasPassed()) {
            Thread.sleep(LEASE_POLL_PAUSE);
            current = record.read();
            if (!current.equals(first)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Checks a volume that no server uses.
     *
     * @return descriptions of all problems; empty if the volume is consistent
     * @throws FabricException if the drive fails
     */
    public static List<String> check(Drive drive) throws FabricException {
        return VolumeCheck.run(drive).problems();
    }

    /**
     * Starts a server. The caller closes the drive after the server.
     *
     * @throws FabricException if the drive fails or contains no volume, or the last coordinator had
     *     other timeouts and sessions
     * @throws IOException if none of the transports works
     */
    public static VolumeServer start(Drive drive, ServerOptions options) throws IOException {
        return new VolumeServer(drive, options);
    }

    /** Returns the addresses at which clients reach this server, one for each transport. */
    public List<String> addresses() {
        return listener.addresses();
    }

    /** Returns true if this server is the coordinator. */
    public boolean isCoordinator() {
        return takeover.coordinator().isPresent();
    }

    /** Returns the current state. */
    public ServerStatus state() {
        var coordinator = takeover.coordinator();
        return new ServerStatus(
                options.name(),
                SoftwareVersion.text(),
                coordinator.map(Coordinator::epoch).orElse(0L),
                blocks != null,
                addresses(),
                listener.failures().stream().map(SkippedTransport::toString).toList(),
                drive.toString(),
                drive.blocks() * Drive.BLOCK_BYTES,
                coordinator.map(Coordinator::use));
    }

    private void startBlockService() {
        var servers = new ArrayList<List<String>>();
        servers.add(addresses());
        servers.addAll(options.others());
        var clientOptions =
                new ClientOptions(
                        options.name(),
                        servers,
                        addresses(),
                        false, // the coordinator registers the key of this node
                        CALL_TIMEOUT,
                        RETRY_TIMEOUT);
        while (!isClosed && blocks == null) {
            try {
                var connector = new NodeConnector(options.node());
                var started = client;
                if (started == null) {
                    started = new VolumeClient(clientOptions, connector, Optional.of(drive));
                    client = started;
                    relay = started.newRelay(options.name(), connector, CALL_TIMEOUT);
                }
                blocks = started.newBlockService(drive);
            } catch (FabricException e) {
                LOG.info("{} does not serve blocks yet: {}", options.name(), e.getMessage());
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(RETRY_PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // close()
        }
    }

    private final class Requests implements RequestHandler {

        @Override
        public ByteBuffer handle(Request request) throws IOException {
            return VolumeServer.this.handle(request);
        }

        @Override
        public void disconnected(NodeConnection connection, ConnectionLostException reason) {
            var forwarding = relay;
            if (forwarding != null) {
                forwarding.end(NodeConnector.link(connection));
            }
        }
    }

    private ByteBuffer handle(Request request) throws IOException {
        var operation = RequestHeader.decode(new Decoder(request.message())).operation();
        if (DriveBlockServer.accepts(operation)) {
            var service = blocks;
            return service == null
                    ? rejection("This server does not serve blocks yet")
                    : service.handle(request.message(), request.bulk());
        }
        var peer = NodeConnector.link(request.connection());
        var forwarding = relay;
        if (forwarding != null) {
            var reply = forwarding.forward(peer, request.message());
            if (reply.isPresent()) {
                return reply.get();
            }
        }
        if (operation == Operation.SERVER_STATE) {
            var reply = ReplyEncoding.encoder();
            StatusReportEncoding.encode(reply, state());
            return ByteBuffer.wrap(reply.bytes());
        }
        var coordinator = takeover.coordinator();
        if (coordinator.isPresent()) {
            return coordinator.get().handle(peer, request.message());
        }
        if (operation != Operation.REDIRECT) {
            return rejection("This server is a standby");
        }
        return forwarding != null && takeover.hasOtherCoordinator()
                ? forwarding.start(peer)
                : rejection("No coordinator renews its lease"); // the client finds the next one
    }

    private static ByteBuffer rejection(String reason) {
        return ByteBuffer.wrap(
                ReplyEncoding.failure(new VolumeException(Failure.NOT_COORDINATOR, reason)));
    }

    /** Stops the server. If it is the coordinator, a standby takes over at once. */
    @Override
    public void close() {
        isClosed = true;
        blockServerStart.interrupt();
        try {
            blockServerStart.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        var started = client;
        if (started != null) {
            started.close();
        }
        takeover.close();
        listener.close();
        var forwarding = relay;
        if (forwarding != null) {
            forwarding.close();
        }
    }
}
