package org.jrdma.examples.events;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.QueuePairState.INIT;
import static org.jrdma.verbs.model.QueuePairState.READY_TO_RECEIVE;
import static org.jrdma.verbs.model.QueuePairState.READY_TO_SEND;

import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionEvent.AddressResolved;
import org.jrdma.verbs.cm.ConnectionEvent.ConnectRequest;
import org.jrdma.verbs.cm.ConnectionEvent.ConnectResponse;
import org.jrdma.verbs.cm.ConnectionEvent.Disconnected;
import org.jrdma.verbs.cm.ConnectionEvent.Established;
import org.jrdma.verbs.cm.ConnectionEvent.Failure;
import org.jrdma.verbs.cm.ConnectionEvent.RouteResolved;
import org.jrdma.verbs.cm.EventChannel;
import org.jrdma.verbs.cm.Identifier;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.QueuePairState;

/**
 * Many connections by one thread, which takes every step itself and is told by events what came of
 * it; as the C program {@code ucmatose}, and either side can be that one. The server sends some
 * messages over each connection, the client answers with as many, and the server disconnects.
 */
public final class Ucmatose {

    private static final String USAGE =
            """
            usage: ucmatose [options]               waits for the connections of a client
                   ucmatose -s ADDRESS [options]    connects to the server at ADDRESS

              -b ADDRESS      to listen at (all there are), or to connect from
              -p PORT         (7471)
              -P PORT_SPACE   tcp or ib (tcp)
              -c CONNECTIONS  (1), the same on both sides, as are these two:
              -C MESSAGES     each way over each connection (10)
              -S SIZE         the bytes of each (100)
              -t SERVICE      the type of service of the client's packets: 0 to 255
              -a TIMEOUT      how long to wait for an acknowledgement: 4.096 us times 2 to this
              -m              takes the last events from another channel than the first
              -f FABRIC       system, or software: RDMA in Java, for a machine without a device

            The server waits for the connections for ever. Once they are there, a side that hears nothing for 30 s ends.\
            """;

    private static final int PORT = 7471;
    private static final Duration FOR_EVER = ChronoUnit.FOREVER.getDuration();
    private static final Duration PATIENCE = ofSeconds(30);
    private static final Duration RESOLVING = ofSeconds(2);

    private final EventOptions options;
    private final Fabric.WithConnections fabric;
    private final List<Peer> peers = new ArrayList<>();
    private EventChannel channel;
    private int connected;
    private int disconnected;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            var options =
                    new EventOptions(USAGE, "m", "sbcCStpPfa", PORT, PortSpace.TCP, arguments);
            new Ucmatose(options).run();
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private Ucmatose(EventOptions options) throws IOException {
        this.options = options;
        fabric = Fabric.chooseWithConnections(options.fabric());
        channel = fabric.connections().newEventChannel();
    }

    private void run() throws IOException {
        try {
            if (options.isClient()) {
                connect();
            } else {
                serve();
            }
        } finally {
            peers.forEach(Peer::close);
            channel.close();
        }
        IO.println("test complete");
    }

    private void serve() throws IOException {
        var listener = channel.newIdentifier(options.portSpace());
        listener.bind(options.localAddress());
        listener.listen(options.connections());
        IO.println("waiting at " + fabric.place(listener.localAddress().orElseThrow()));
        handleEvents(() -> connected == options.connections(), FOR_EVER);
        if (options.messages() > 0) {
            IO.println("initiating data transfers");
            for (var peer : peers) {
                peer.send();
            }
            IO.println("completing sends");
            for (var peer : peers) {
                peer.awaitSent();
            }
            IO.println("receiving data transfers");
            for (var peer : peers) {
                peer.awaitReceived();
            }
            IO.println("data transfers complete");
        }
        listener.close();
        migrateIfAsked();
        IO.println("disconnecting");
        for (var peer : peers) {
            peer.identifier.disconnect();
        }
        handleEvents(() -> disconnected == options.connections(), PATIENCE);
        IO.println("disconnected");
    }

    private void connect() throws IOException {
        IO.println("connecting to " + options.serverAddress());
        for (var count = 0; count < options.connections(); count++) {
            var identifier = channel.newIdentifier(options.portSpace());
            peers.add(new Peer(identifier));
            if (options.typeOfService().isPresent()) {
                identifier.typeOfService(options.typeOfService().getAsInt());
            }
            if (options.isBound()) {
                identifier.resolveAddress(
                        options.localAddress(), options.serverAddress(), RESOLVING);
            } else {
                identifier.resolveAddress(options.serverAddress(), RESOLVING);
            }
        }
        handleEvents(() -> connected == options.connections(), PATIENCE);
        if (options.messages() > 0) {
            IO.println("receiving data transfers");
            for (var peer : peers) {
                peer.awaitReceived();
            }
            IO.println("sending replies");
            for (var peer : peers) {
                peer.send();
            }
            IO.println("data transfers complete");
        }
        migrateIfAsked();
        handleEvents(() -> disconnected == options.connections(), PATIENCE);
        IO.println("disconnected");
    }

    private void migrateIfAsked() throws IOException {
        if (!options.has("-m")) {
            return;
        }
        IO.println("migrating to a new event channel");
        var former = channel;
        channel = fabric.connections().newEventChannel();
        for (var peer : peers) {
            peer.identifier = peer.identifier.migrateTo(channel);
        }
        former.close();
    }

    private void handleEvents(BooleanSupplier done, Duration timeout) throws IOException {
        while (!done.getAsBoolean()) {
            handle(channel.next(timeout));
        }
    }

    /** What has happened, and the next step. */
    private void handle(ConnectionEvent event) throws IOException {
        switch (event) {
            case AddressResolved(var identifier) -> {
                setAcknowledgeTimeout(identifier); // before the way there is known
                identifier.resolveRoute(RESOLVING);
            }
            case RouteResolved(var identifier) -> {
                var queuePair = peer(identifier).open();
                // On iWARP this waits until TCP has connected.
                identifier.connect(ConnectionParameters.of(queuePair.number(), 1));
            }
            case ConnectRequest(var identifier, _, _, _) -> accept(identifier);
            case ConnectResponse(var identifier, _, _) -> {
                peer(identifier).bringTo(READY_TO_RECEIVE, READY_TO_SEND);
                identifier.establish(); // the server hears of it by this
                connected++;
            }
            case Established(var identifier, _, _) -> {
                peer(identifier).queuePair.query(); // on iWARP, its driver has brought it there
                connected++;
            }
            case Disconnected(var identifier) -> {
                if (options.isClient()) {
                    identifier.disconnect(); // without this answer the server asks again
                }
                disconnected++;
            }
            case Failure failure ->
                    throw new IOException(
                            "A connection failed: %s (%s)"
                                    .formatted(
                                            failure.reason(), failure.getClass().getSimpleName()));
            default -> {
                // news that change nothing
            }
        }
    }

    private void accept(Identifier identifier) throws IOException {
        if (peers.size() == options.connections()) {
            identifier.reject();
            identifier.close();
            return;
        }
        var peer = new Peer(identifier);
        peers.add(peer);
        setAcknowledgeTimeout(identifier);
        var queuePair = peer.open();
        peer.bringTo(READY_TO_RECEIVE, READY_TO_SEND);
        identifier.accept(ConnectionParameters.of(queuePair.number(), 1));
    }

    private void setAcknowledgeTimeout(Identifier identifier) throws IOException {
        if (options.acknowledgeTimeout().isPresent()) {
            var exponent = options.acknowledgeTimeout().getAsInt();
            identifier.acknowledgeTimeout(
                    exponent == 0
                            ? ChronoUnit.FOREVER.getDuration()
                            : Duration.ofNanos(4_096L << exponent));
        }
    }

    private Peer peer(Identifier identifier) {
        return peers.stream()
                .filter(peer -> peer.identifier == identifier)
                .findFirst()
                .orElseThrow();
    }

    /** A connection, with all that it needs. */
    private final class Peer implements AutoCloseable {

        private final List<Transfer> received = new ArrayList<>();
        private final List<Transfer> sent = new ArrayList<>();
        private Identifier identifier;
        private Device device;
        private MemoryRegion memory;
        private AsyncQueuePair queuePair;

        Peer(Identifier identifier) {
            this.identifier = identifier;
        }

        /** As soon as it is known which device leads there. */
        AsyncQueuePair open() throws IOException {
            device = fabric.verbs().open(identifier.deviceName().orElseThrow());
            var depth = Math.max(1, options.messages());
            var domain = device.newProtectionDomain();
            var completions = device.newCompletionDispatcher(2 * depth);
            queuePair =
                    domain.newQueuePair(
                            reliable(completions)
                                    .sends(depth)
                                    .receives(depth)
                                    .port(identifier.devicePort().orElseThrow()));
            bringTo(INIT);
            memory = domain.newArena(LOCAL_WRITE).region(Math.max(1, options.bytes()));
            for (var count = 0; count < options.messages(); count++) {
                received.add(queuePair.receive(memory.slice())); // what is in them does not matter
            }
            return queuePair;
        }

        void bringTo(QueuePairState... states) throws IOException {
            for (var state : states) {
                queuePair.modify(identifier.queuePairChange(state));
            }
        }

        void send() throws IOException {
            for (var count = 0; count < options.messages(); count++) {
                sent.add(queuePair.send(memory.slice()));
            }
        }

        void awaitSent() throws IOException {
            for (var transfer : sent) {
                transfer.await(PATIENCE);
            }
        }

        void awaitReceived() throws IOException {
            for (var transfer : received) {
                transfer.await(PATIENCE);
            }
        }

        @Override
        public void close() {
            if (device != null) {
                device.close();
            }
            identifier.close();
        }
    }
}
