package org.jrdma.interop.events;

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
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.Device;
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
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.QueuePairState;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Makes many connections on one thread. The thread performs each step of a connection itself, and
 * an event reports the result. Either side can be {@code ucmatose} of rdma-core. The server sends
 * messages over each connection, the client replies with the same number of messages, and the
 * server disconnects.
 */
@Command(name = "ucmatose", description = "Makes many connections in one thread, as ucmatose")
public final class Ucmatose extends AbstractEventChannelProgram {

    @Option(
            names = "-s",
            paramLabel = "ADDRESS",
            description = "the server; without it, this side is the server")
    private String server = "";

    @Option(names = "-p", paramLabel = "PORT", description = "the server's port (${DEFAULT-VALUE})")
    private int port = 7471;

    @Option(
            names = "-t",
            paramLabel = "SERVICE",
            description = "the type of service of the client's packets: 0 to 255")
    private Integer typeOfService;

    @Option(
            names = "-a",
            paramLabel = "TIMEOUT",
            description = "timeout for an acknowledgment: 4.096 us * 2^TIMEOUT")
    private Integer acknowledgeTimeout;

    @Option(names = "-m", description = "move to another event channel before disconnecting")
    private boolean migrate;

    private final List<Peer> peers = new ArrayList<>();
    private EventChannel channel;
    private int connected;
    private int disconnected;

    private Ucmatose() {
        super(PortSpace.TCP);
    }

    static void main(String... arguments) {
        new Ucmatose().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        checkOptions(false);
        channel = connectionManager().newEventChannel();
        try {
            if (!server.isEmpty()) {
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
        var listener = channel.newIdentifier(portSpace);
        listener.bind(listenAddress(port));
        listener.listen(connections);
        IO.println("waiting at " + describe(listener.localAddress().orElseThrow()));
        handleEvents(() -> connected == connections, FOREVER);
        if (messages > 0) {
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
        migrateIfRequested();
        IO.println("disconnecting");
        for (var peer : peers) {
            peer.identifier.disconnect();
        }
        handleEvents(() -> disconnected == connections, STEP_TIMEOUT);
        IO.println("disconnected");
    }

    private void connect() throws IOException {
        IO.println("connecting to " + address(server, port));
        for (var count = 0; count < connections; count++) {
            var identifier = channel.newIdentifier(portSpace);
            peers.add(new Peer(identifier));
            if (typeOfService != null) {
                identifier.typeOfService(typeOfService);
            }
            if (!bind.isEmpty()) {
                identifier.resolveAddress(listenAddress(0), address(server, port), RESOLVE_TIMEOUT);
            } else {
                identifier.resolveAddress(address(server, port), RESOLVE_TIMEOUT);
            }
        }
        handleEvents(() -> connected == connections, STEP_TIMEOUT);
        if (messages > 0) {
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
        migrateIfRequested();
        handleEvents(() -> disconnected == connections, STEP_TIMEOUT);
        IO.println("disconnected");
    }

    private void migrateIfRequested() throws IOException {
        if (!migrate) {
            return;
        }
        IO.println("migrating to a new event channel");
        var former = channel;
        channel = connectionManager().newEventChannel();
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

    /** Performs the step that follows an event. */
    private void handle(ConnectionEvent event) throws IOException {
        switch (event) {
            case AddressResolved(var identifier) -> {
                setAcknowledgeTimeout(identifier); // Must precede the resolution of the route.
                identifier.resolveRoute(RESOLVE_TIMEOUT);
            }
            case RouteResolved(var identifier) -> {
                var queuePair = peer(identifier).open();
                // On iWARP, connect() waits until TCP has connected.
                identifier.connect(ConnectionParameters.of(queuePair.number(), 1));
            }
            case ConnectRequest(var identifier, _, _, _) -> accept(identifier);
            case ConnectResponse(var identifier, _, _) -> {
                peer(identifier).changeTo(READY_TO_RECEIVE, READY_TO_SEND);
                identifier.establish(); // Notifies the server.
                connected++;
            }
            case Established(var identifier, _, _) -> {
                // On iWARP, the driver has changed the state of the queue pair.
                peer(identifier).queuePair.query();
                connected++;
            }
            case Disconnected(var identifier) -> {
                if (!server.isEmpty()) {
                    // Otherwise, the server repeats its disconnect request.
                    identifier.disconnect();
                }
                disconnected++;
            }
            case Failure failure ->
                    throw new IOException(
                            "A connection failed: %s (%s)"
                                    .formatted(
                                            failure.reason(), failure.getClass().getSimpleName()));
            default -> {
                // The other events require no action.
            }
        }
    }

    private void accept(Identifier identifier) throws IOException {
        if (peers.size() == connections) {
            identifier.reject();
            identifier.close();
            return;
        }
        var peer = new Peer(identifier);
        peers.add(peer);
        setAcknowledgeTimeout(identifier);
        var queuePair = peer.open();
        peer.changeTo(READY_TO_RECEIVE, READY_TO_SEND);
        identifier.accept(ConnectionParameters.of(queuePair.number(), 1));
    }

    private void setAcknowledgeTimeout(Identifier identifier) throws IOException {
        if (acknowledgeTimeout != null) {
            identifier.acknowledgeTimeout(
                    acknowledgeTimeout == 0
                            ? ChronoUnit.FOREVER.getDuration()
                            : Duration.ofNanos(4_096L << acknowledgeTimeout));
        }
    }

    private Peer peer(Identifier identifier) {
        return peers.stream()
                .filter(peer -> peer.identifier == identifier)
                .findFirst()
                .orElseThrow();
    }

    /** A connection and the resources that it uses. */
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

        /** Creates the queue pair. Called after the rdma_cm_id was assigned to a device. */
        AsyncQueuePair open() throws IOException {
            device = verbs().open(identifier.deviceName().orElseThrow());
            var depth = Math.max(1, messages);
            var domain = device.newProtectionDomain();
            var completions = device.newCompletionDispatcher(2 * depth);
            queuePair =
                    domain.newQueuePair(
                            reliable(completions)
                                    .sends(depth)
                                    .receives(depth)
                                    .port(identifier.devicePort().orElseThrow()));
            changeTo(INIT);
            memory = domain.newArena(LOCAL_WRITE).region(Math.max(1, bytes));
            for (var count = 0; count < messages; count++) {
                // The contents of the messages do not matter.
                received.add(queuePair.receive(memory.slice()));
            }
            return queuePair;
        }

        void changeTo(QueuePairState... states) throws IOException {
            for (var state : states) {
                queuePair.modify(identifier.queuePairChange(state));
            }
        }

        void send() throws IOException {
            for (var count = 0; count < messages; count++) {
                sent.add(queuePair.send(memory.slice()));
            }
        }

        void awaitSent() throws IOException {
            for (var transfer : sent) {
                transfer.await(STEP_TIMEOUT);
            }
        }

        void awaitReceived() throws IOException {
            for (var transfer : received) {
                transfer.await(STEP_TIMEOUT);
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
