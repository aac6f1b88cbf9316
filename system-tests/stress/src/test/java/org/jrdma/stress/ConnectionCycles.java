package org.jrdma.stress;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.FabricSockets;
import org.jrdma.sockets.OpenConnections;
import org.jrdma.sockets.Transports;
import org.jrdma.sockets.model.Transport;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ChannelClosedException;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.RdmaChannelOptions;

/**
 * A program that opens and closes connections of one kind, and prints which resources the process
 * holds. The last line of its output is GROWN if the process holds more after the last connection
 * than after the first fifth of them, and FLAT otherwise.
 *
 * <pre>{@code java -Xmx24m ... org.jrdma.stress.ConnectionCycles KIND COUNT}</pre>
 *
 * The system property {@code jrdma.fabric} selects the libraries, {@code jrdma.test.device} the
 * RDMA device (by default the first one), and {@code jrdma.test.address} the address of sockets.
 */
public final class ConnectionCycles {

    private static final Duration TIMEOUT = ofSeconds(30);
    private static final int PARTS = 5;

    /** The kinds of connections, named as on the command line. */
    enum Kind {
        RDMA_CM,
        RDMA_CHANNEL,
        SISCI_SEGMENT,
        SOCKET_SISCI,
        SOCKET_TCP,
        /** SuperSockets without the driver: uses the address family of IPv4. */
        SOCKET_SUPERSOCKETS,
        /** Needs an RDMA device with the address of the sockets. */
        SOCKET_RSOCKET,
        /** Needs a kernel with SMC and a UEID; see SmcUeidSetup of supersockets-java. */
        SOCKET_SMC,
        RDMA_LISTENER,
        SOCKET_SISCI_LISTENER
    }

    /** Opens, uses and closes a connection. */
    private interface Cycle extends AutoCloseable {
        void run() throws Exception;

        @Override
        void close() throws IOException;
    }

    private ConnectionCycles() {}

    /** Runs the program. */
    public static void main(String... arguments) throws Exception {
        var kind = Kind.valueOf(arguments[0]);
        var count = Integer.parseInt(arguments[1]);
        try (var cycle = open(kind)) {
            var begin = System.nanoTime();
            repeat(cycle, count / PARTS);
            var first = HeldResources.now();
            System.out.printf("%s %d: %s%n", kind, count / PARTS, first);
            for (var part = 2; part < PARTS; part++) {
                repeat(cycle, count / PARTS);
                System.out.printf("%s %d: %s%n", kind, part * count / PARTS, HeldResources.now());
            }
            repeat(cycle, count - (PARTS - 1) * (count / PARTS));
            var seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
            var last = first.awaitNoMore();
            System.out.printf("%s %d: %s, %d s%n", kind, count, last, seconds);
            System.out.println(first.isNoLessThan(last) ? "FLAT" : "GROWN");
        }
        // The service threads of the libraries are daemon threads, but a leaked thread might not be
        // one.
        System.exit(0);
    }

    private static void repeat(Cycle cycle, int times) throws Exception {
        for (var time = 0; time < times; time++) {
            cycle.run();
        }
    }

    private static Cycle open(Kind kind) throws IOException {
        return switch (kind) {
            case RDMA_CM -> new RdmaConnections();
            case RDMA_CHANNEL -> new RdmaChannels();
            case SISCI_SEGMENT -> new Segments();
            case SOCKET_SISCI -> new Sockets(Transports.sisci());
            case SOCKET_TCP -> new Sockets(Transports.tcp());
            case SOCKET_SUPERSOCKETS -> new Sockets(Transports.supersockets(ipv4Family()));
            case SOCKET_RSOCKET -> new Sockets(Transports.rsocket());
            case SOCKET_SMC -> new Sockets(Transports.smc());
            case RDMA_LISTENER -> new RdmaListeners();
            case SOCKET_SISCI_LISTENER -> new SocketListeners(Transports.sisci());
        };
    }

    private static Path ipv4Family() throws IOException {
        var file = Files.createTempFile("family", "");
        file.toFile().deleteOnExit();
        return Files.writeString(file, "2\n");
    }

    /** The accepting side of a cycle. */
    private interface Acceptor {
        void accept() throws Exception;
    }

    private static CompletableFuture<Void> start(Acceptor acceptor) {
        var done = new CompletableFuture<Void>();
        Thread.startVirtualThread(() -> {
            try {
                acceptor.accept();
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        return done;
    }

    private static void await(CompletableFuture<Void> accepted) throws Exception {
        accepted.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    private static Device openDevice() throws IOException {
        var name = System.getProperty("jrdma.test.device");
        return name == null ? Verbs.configured().openFirst() : Verbs.configured().open(name);
    }

    /** A device with a listener of the connection manager. */
    private static final class RdmaServer implements AutoCloseable {

        final ConnectionManager connections = ConnectionManager.configured();
        final Device device = openDevice();
        final ProtectionDomain domain = device.newProtectionDomain();
        final Listener listener = connections.listen(device, 0);

        RdmaServer() throws IOException {}

        @Override
        public void close() {
            listener.close();
            device.close();
        }
    }

    private static final class RdmaConnections implements Cycle {

        private final RdmaServer server = new RdmaServer();
        private final CompletionQueue completions = server.device.newCompletionQueue(64);

        RdmaConnections() throws IOException {}

        private ConnectionOptions<PolledQueuePair> options() {
            return ConnectionOptions.of(reliable(completions).sends(4).receives(4));
        }

        @Override
        public void run() throws Exception {
            var accepted =
                    start(() -> {
                        try (var connection =
                                server.listener.accept(server.domain, options(), TIMEOUT)) {
                            connection.awaitDisconnected(TIMEOUT);
                        }
                    });
            try (var connection =
                    server.connections.connect(
                            server.listener.localAddress(), server.domain, options(), TIMEOUT)) {
                connection.disconnect(TIMEOUT);
            }
            await(accepted);
        }

        @Override
        public void close() {
            server.close();
        }
    }

    /** Listens, and closes the listener. */
    private static final class RdmaListeners implements Cycle {

        private final Device device = openDevice();
        private final ConnectionManager connections = ConnectionManager.configured();

        RdmaListeners() throws IOException {}

        @Override
        public void run() throws Exception {
            try (var listener = connections.listen(device, 0)) {
                listener.localAddress();
            }
        }

        @Override
        public void close() {
            device.close();
        }
    }

    private static final class RdmaChannels implements Cycle {

        private final RdmaServer server = new RdmaServer();
        private final RdmaChannelOptions options = RdmaChannelOptions.DEFAULT.window(4);
        private final MemorySegment message = Arena.global().allocate(8);

        RdmaChannels() throws IOException {}

        @Override
        public void run() throws Exception {
            var accepted = start(this::receiveUntilClosed);
            try (var channel =
                    server.connections.connectChannel(
                            server.listener.localAddress(), server.domain, options, TIMEOUT)) {
                channel.trySend(message);
                channel.await((_, _) -> {}, TIMEOUT);
            }
            await(accepted);
        }

        /** Answers one message, and waits until the peer has closed the channel. */
        private void receiveUntilClosed() throws IOException {
            try (var channel =
                    server.listener.next(TIMEOUT).acceptChannel(server.domain, options, TIMEOUT)) {
                channel.await((_, _) -> {}, TIMEOUT);
                channel.trySend(message);
                while (true) {
                    channel.await((_, _) -> {}, TIMEOUT);
                }
            } catch (ChannelClosedException _) {
                // The peer has closed the channel.
            }
        }

        @Override
        public void close() {
            server.close();
        }
    }

    private static final class Segments implements Cycle {

        private static final int SEGMENT = 7;

        private final Node node = Sisci.software().open();

        Segments() throws IOException {}

        @Override
        public void run() throws Exception {
            try (var segment = node.newSegment(SEGMENT, 4096)) {
                segment.offer();
                try (var remote = node.connect(node.id(), SEGMENT, TIMEOUT);
                        var map = remote.map()) {
                    map.putLongRelease(0, 1);
                }
            }
        }

        @Override
        public void close() {
            node.close();
        }
    }

    /** Listens, connects once, and closes the listener. */
    private static final class SocketListeners implements Cycle {

        private final Transport transport;

        SocketListeners(Transport transport) {
            this.transport = transport;
        }

        @Override
        public void run() throws Exception {
            try (var sockets = new Sockets(transport)) {
                sockets.run();
            }
        }

        @Override
        public void close() {}
    }

    private static final class Sockets implements Cycle {

        private static final String ADDRESS = System.getProperty("jrdma.test.address", "127.0.0.1");

        private final List<Transport> transport;
        private final ServerSocketChannel listener;
        private final int port;

        Sockets(Transport transport) throws IOException {
            this.transport = List.of(transport);
            this.listener =
                    FabricSockets.listen(
                            new InetSocketAddress(InetAddress.ofLiteral(ADDRESS), 0),
                            this.transport);
            this.port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
        }

        @Override
        public void run() throws Exception {
            var accepted =
                    start(() -> {
                        try (var channel = listener.accept()) {
                            channel.read(ByteBuffer.allocate(1));
                        }
                    });
            try (var channel = FabricSockets.connect(ADDRESS, port, transport, TIMEOUT)) {
                checkTransport(channel);
                channel.write(ByteBuffer.wrap(new byte[1]));
                await(accepted);
            }
        }

        /** The kernel's SMC may use TCP instead, which would not be what is measured. */
        private void checkTransport(SocketChannel channel) {
            var used = OpenConnections.of(channel);
            if (!used.transport().equals(transport.getFirst().name())) {
                throw new IllegalStateException("The connection has another transport: " + used);
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }
}
