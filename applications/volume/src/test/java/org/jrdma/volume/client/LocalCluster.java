package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.coordinator.Takeover;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.VolumeCheck;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.PeerConnection;
import org.jrdma.volume.protocol.RequestHeader;

/** Servers and clients of a volume in this process, which call each other without a network. */
public final class LocalCluster implements AutoCloseable {

    static final Duration LEASE = Duration.ofMillis(600);
    static final Duration SESSION_TIMEOUT = Duration.ofSeconds(1);

    private final MemoryDrive drive;
    private final List<Server> servers = new ArrayList<>();
    private final List<VolumeClient> clients = new ArrayList<>();

    /** A server that can be stopped as if its process were killed. */
    final class Server {
        private final CutDrive path = new CutDrive(drive);
        private final Takeover takeover;
        private final Set<Link> links = ConcurrentHashMap.newKeySet();
        private volatile DriveBlockServer blocks;
        private volatile boolean isKilled;

        private Server(long key) throws FabricException {
            this.takeover = new Takeover(path, Fence.BY_CLOCK, key, LEASE, SESSION_TIMEOUT);
        }

        boolean isCoordinator() {
            return !isKilled && takeover.coordinator().isPresent();
        }

        void kill() {
            isKilled = true;
            path.cut(true);
            links.forEach(Link::close);
        }
    }

    /** A path to the drive that can be cut. */
    static class CutDrive implements Drive {
        private final Drive drive;
        private volatile boolean isCut;

        CutDrive(Drive drive) {
            this.drive = drive;
        }

        void cut(boolean isCut) {
            this.isCut = isCut;
        }

        private void check() throws VolumeException {
            if (isCut) {
                throw new VolumeException("The path was cut on purpose");
            }
        }

        @Override
        public long blocks() {
            return drive.blocks();
        }

        @Override
        public void read(long block, MemorySegment target) throws FabricException {
            check();
            drive.read(block, target);
        }

        @Override
        public void write(long block, MemorySegment source) throws FabricException {
            check();
            drive.write(block, source);
        }

        @Override
        public void flush() throws FabricException {
            check();
            drive.flush();
        }

        @Override
        public Fence fence() {
            return Fence.BY_CLOCK;
        }

        @Override
        public void close() {
            // the cluster owns the drive
        }
    }

    /** A connection of a client to a server. */
    private static final class Link implements ServerConnector.Connection {

        private final Server server;
        private final UnaryOperator<ByteBuffer> incoming;
        private final PeerConnection client = this::callClient;
        private volatile boolean isClosed;

        Link(Server server, UnaryOperator<ByteBuffer> incoming) {
            this.server = server;
            this.incoming = incoming;
            server.links.add(this);
        }

        private void check() throws VolumeException {
            if (isClosed || server.isKilled) {
                throw new VolumeException("The connection was closed");
            }
        }

        private static ByteBuffer copy(ByteBuffer buffer) {
            return ByteBuffer.allocate(buffer.remaining()).put(buffer.duplicate()).flip();
        }

        @Override
        public ByteBuffer call(ByteBuffer request, Duration timeout) throws FabricException {
            check();
            var operation =
                    RequestHeader.decode(new org.jrdma.volume.metadata.Decoder(request))
                            .operation();
            if (DriveBlockServer.accepts(operation)) {
                return server.blocks.handle(copy(request), MemorySegment.NULL);
            }
            var coordinator = server.takeover.coordinator();
            if (coordinator.isEmpty()) {
                throw new VolumeException("The server is a standby");
            }
            var reply = coordinator.get().handle(client, copy(request));
            check();
            return copy(reply);
        }

        private ByteBuffer callClient(ByteBuffer request, Duration timeout) throws FabricException {
            check();
            var reply = incoming.apply(copy(request));
            check();
            return reply;
        }

        @Override
        public String transport() {
            return "memory";
        }

        @Override
        public int maxTransferBytes() {
            return 64 * 1024;
        }

        @Override
        public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration timeout)
                throws FabricException {
            check();
            var reply = server.blocks.handle(copy(request), source);
            check();
            return reply;
        }

        @Override
        public ByteBuffer receive(ByteBuffer request, MemorySegment target, Duration timeout)
                throws FabricException {
            return send(request, target, timeout);
        }

        @Override
        public void close() {
            isClosed = true;
            server.links.remove(this);
        }
    }

    /** Creates a volume and starts servers. */
    public LocalCluster(long blocks, int servers) throws FabricException {
        drive = new MemoryDrive(blocks);
        var _ = VolumeFormatter.create(drive);
        for (var i = 0; i < servers; i++) {
            var _ = startServer();
        }
    }

    Server startServer() throws FabricException {
        var server = new Server(servers.size() + 1);
        servers.add(server);
        return server;
    }

    MemoryDrive drive() {
        return drive;
    }

    Server coordinator() throws InterruptedException {
        while (true) {
            for (var server : servers) {
                if (server.isCoordinator()) {
                    return server;
                }
            }
            Thread.sleep(5);
        }
    }

    private Link connect(List<String> addresses, UnaryOperator<ByteBuffer> incoming)
            throws FabricException {
        var server = servers.get(Integer.parseInt(addresses.getFirst()));
        if (server.isKilled) {
            throw new VolumeException("The server was killed");
        }
        return new Link(server, incoming);
    }

    private ClientOptions options(String name, List<String> ownAddresses) {
        var addresses = new ArrayList<List<String>>();
        for (var i = 0; i < servers.size(); i++) {
            addresses.add(List.of(Integer.toString(i)));
        }
        return new ClientOptions(
                name, addresses, ownAddresses, true, Duration.ofSeconds(5), Duration.ofSeconds(30));
    }

    /** Returns the options of a client that knows the first server. */
    static ClientOptions options(Duration callTimeout, Duration retryTimeout) {
        return new ClientOptions(
                "client", List.of(List.of("0")), List.of(), true, callTimeout, retryTimeout);
    }

    /** Starts a client with a path to the drive. */
    public VolumeClient newClient(String name) throws FabricException {
        return newClient(name, Optional.of(drive));
    }

    VolumeClient newClient(String name, Optional<Drive> path) throws FabricException {
        return newClient(name, path, (addresses, incoming, _) -> connect(addresses, incoming));
    }

    VolumeClient newClient(String name, Optional<Drive> path, ServerConnector connector)
            throws FabricException {
        var client = new VolumeClient(options(name, List.of()), connector, path);
        clients.add(client);
        return client;
    }

    ServerConnector connector() {
        return (addresses, incoming, _) -> connect(addresses, incoming);
    }

    /** Lets a server serve blocks. */
    DriveBlockServer serveBlocks(int server) throws FabricException {
        var address = List.of(Integer.toString(server));
        var client =
                new VolumeClient(
                        options("server " + server, address), connector(), Optional.of(drive));
        clients.add(client);
        servers.get(server).blocks = client.newBlockService(servers.get(server).path);
        return servers.get(server).blocks;
    }

    /** Stops all clients and servers, and returns the problems of the volume. */
    List<String> stopAndCheck() throws FabricException {
        close();
        return VolumeCheck.run(drive).problems();
    }

    @Override
    public void close() {
        clients.forEach(VolumeClient::close);
        clients.clear();
        servers.forEach(server -> server.takeover.close());
    }
}
