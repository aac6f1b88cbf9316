package org.jrdma.interop.events;

import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionEvent.AddressResolved;
import org.jrdma.verbs.cm.ConnectionEvent.DatagramEstablished;
import org.jrdma.verbs.cm.ConnectionEvent.DatagramRequest;
import org.jrdma.verbs.cm.ConnectionEvent.Failure;
import org.jrdma.verbs.cm.ConnectionEvent.RouteResolved;
import org.jrdma.verbs.cm.EventChannel;
import org.jrdma.verbs.cm.Identifier;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.GlobalRouteHeader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Queries a server for the destination of datagrams, and sends datagrams to that destination.
 * Either side can be {@code udaddy} of rdma-core. The server learns where to send its answers from
 * the datagrams: the immediate data is the queue pair number of the sender, and the header contains
 * the sender's address.
 */
@Command(name = "udaddy", description = "Finds a datagram service and sends to it, as udaddy")
public final class Udaddy extends AbstractEventChannelProgram {

    /** The port of the server, for which the C program has no option. */
    private static final int PORT = 7174;

    @Option(
            names = "-s",
            paramLabel = "ADDRESS",
            description = "the server; without it, this side is the server")
    private String server = "";

    @Option(
            names = "-t",
            paramLabel = "SERVICE",
            description = "the type of service of the client's packets: 0 to 255")
    private Integer typeOfService;

    private final List<Peer> peers = new ArrayList<>();
    private EventChannel channel;
    private int answered;

    private Udaddy() {
        super(PortSpace.UDP);
    }

    static void main(String... arguments) {
        new Udaddy().execute(arguments);
    }

    @Option(names = "-p", paramLabel = "NUMBER", description = "the port space, as in C")
    void portSpace(int number) {
        portSpace = portSpaceOf(number);
    }

    @Override
    protected void run() throws IOException {
        checkOptions(true);
        channel = connectionManager().newEventChannel();
        try {
            if (!server.isEmpty()) {
                query();
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
        listener.bind(listenAddress(PORT));
        listener.listen(connections);
        IO.println("waiting at " + describe(listener.localAddress().orElseThrow()));
        handleEvents(() -> answered == connections, FOREVER);
        if (messages > 0) {
            IO.println("receiving data transfers");
            for (var peer : peers) {
                peer.setDestination(peer.awaitReceived());
            }
            IO.println("sending replies");
            for (var peer : peers) {
                peer.send();
            }
            for (var peer : peers) {
                peer.awaitSent();
            }
            IO.println("data transfers complete");
        }
    }

    private void query() throws IOException {
        IO.println("querying " + address(server, PORT));
        for (var count = 0; count < connections; count++) {
            var identifier = channel.newIdentifier(portSpace);
            peers.add(new Peer(identifier));
            if (typeOfService != null) {
                identifier.typeOfService(typeOfService);
            }
            if (!bind.isEmpty()) {
                identifier.resolveAddress(listenAddress(0), address(server, PORT), RESOLVE_TIMEOUT);
            } else {
                identifier.resolveAddress(address(server, PORT), RESOLVE_TIMEOUT);
            }
        }
        handleEvents(() -> answered == connections, STEP_TIMEOUT);
        if (messages > 0) {
            IO.println("initiating data transfers");
            for (var peer : peers) {
                peer.send();
            }
            IO.println("receiving data transfers");
            for (var peer : peers) {
                peer.awaitReceived();
            }
            IO.println("data transfers complete");
        }
    }

    private void handleEvents(BooleanSupplier done, Duration timeout) throws IOException {
        while (!done.getAsBoolean()) {
            handle(channel.next(timeout));
        }
    }

    /** Performs the step that follows an event. */
    private void handle(ConnectionEvent event) throws IOException {
        switch (event) {
            case AddressResolved(var identifier) -> identifier.resolveRoute(RESOLVE_TIMEOUT);
            case RouteResolved(var identifier) -> {
                var queuePair = peer(identifier).open();
                identifier.connect(ConnectionParameters.of(queuePair.number(), 0));
            }
            case DatagramEstablished(var identifier, var service, _) -> {
                peer(identifier).setDestination(service);
                answered++;
            }
            case DatagramRequest(var identifier, _, _) -> answer(identifier);
            case Failure failure ->
                    throw new IOException(
                            "The query failed: %s (%s)"
                                    .formatted(
                                            failure.reason(), failure.getClass().getSimpleName()));
            default -> {
                // The other events require no action.
            }
        }
    }

    private void answer(Identifier identifier) throws IOException {
        if (peers.size() == connections) {
            identifier.reject();
            identifier.close();
            return;
        }
        var peer = new Peer(identifier);
        peers.add(peer);
        identifier.accept(ConnectionParameters.of(peer.open().number(), 0));
        answered++;
    }

    private Peer peer(Identifier identifier) {
        return peers.stream()
                .filter(peer -> peer.identifier == identifier)
                .findFirst()
                .orElseThrow();
    }

    /** A queue pair, and the destination of its datagrams. */
    private final class Peer implements AutoCloseable {

        private final Identifier identifier;
        private final List<Transfer> received = new ArrayList<>();
        private final List<Transfer> sent = new ArrayList<>();
        private Device device;
        private ProtectionDomain domain;
        private MemoryRegion memory;
        private AsyncDatagramQueuePair queuePair;
        private Destination destination;

        Peer(Identifier identifier) {
            this.identifier = identifier;
        }

        /** Creates the queue pair. Called after the rdma_cm_id was assigned to a device. */
        AsyncDatagramQueuePair open() throws IOException {
            device = verbs().open(identifier.deviceName().orElseThrow());
            domain = device.newProtectionDomain();
            var depth = Math.max(1, messages);
            var completions = device.newCompletionDispatcher(2 * depth);
            queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.datagrams(completions)
                                    .sends(depth)
                                    .receives(depth)
                                    .port(identifier.devicePort().orElseThrow()));
            if (bytes > queuePair.maxMessageBytes()) {
                throw new IOException(
                        "-S: A datagram has at most %d bytes on this port."
                                .formatted(queuePair.maxMessageBytes()));
            }
            queuePair.activate(DatagramParameters.QUEUE_KEY); // The default queue key of rdma_cm.
            // A received datagram starts with a header. The contents of a datagram do not matter.
            memory = domain.newArena(LOCAL_WRITE).region(GlobalRouteHeader.BYTES + bytes);
            for (var count = 0; count < messages; count++) {
                received.add(queuePair.receive(memory.slice()));
            }
            return queuePair;
        }

        /** Sets the destination to the service of the server. */
        void setDestination(DatagramParameters service) throws IOException {
            destination =
                    new Destination(
                            domain.newAddressHandle(service.address()),
                            service.queuePairNumber(),
                            service.queueKey());
        }

        /** Sets the destination to the sender of a datagram. */
        void setDestination(Completion arrival) throws IOException {
            destination =
                    new Destination(
                            domain.newAddressHandle(queuePair.addressOf(arrival, memory.slice())),
                            arrival.immediate().orElseThrow(),
                            DatagramParameters.QUEUE_KEY);
        }

        void send() throws IOException {
            var message = memory.slice(GlobalRouteHeader.BYTES, bytes);
            for (var count = 0; count < messages; count++) {
                sent.add(queuePair.sendWithImmediate(message, destination, queuePair.number()));
            }
        }

        void awaitSent() throws IOException {
            for (var transfer : sent) {
                transfer.await(STEP_TIMEOUT);
            }
        }

        /** Waits until all datagrams are received, and returns the completion of the last one. */
        Completion awaitReceived() throws IOException {
            Completion last = null;
            for (var transfer : received) {
                last = transfer.await(STEP_TIMEOUT);
            }
            return last;
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
