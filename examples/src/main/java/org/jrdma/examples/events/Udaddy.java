package org.jrdma.examples.events;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.Completion;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.MemoryRegion;
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
import org.jrdma.verbs.model.GlobalRouteHeader;

/**
 * Asks a server where datagrams for it go, and sends it some; as the C program {@code udaddy}, and
 * either side can be that one. The server learns where its answers go from what arrives: the
 * immediate data has the number of the queue pair that it came from, and the header the rest.
 */
public final class Udaddy {

    private static final String USAGE =
            """
            usage: udaddy [options]               waits for a client's questions and datagrams
                   udaddy -s ADDRESS [options]    asks the server at ADDRESS, and sends

              -b ADDRESS      to listen at (all there are), or to ask from
              -P PORT_SPACE   udp or ipoib (udp)
              -p NUMBER       the same, by the number in C: 0x0111 or 0x0002
              -c CONNECTIONS  how many questions, each for a queue pair of its own (1), the same on both sides, as are these two:
              -C MESSAGES     each way, of each queue pair (10)
              -S SIZE         the bytes of each, no more than a packet has (100)
              -t SERVICE      the type of service of the client's packets: 0 to 255
              -f FABRIC       system, or software: RDMA in Java, for a machine without a device

            The server waits for the questions for ever. After that, a side that hears nothing for 30 s ends.\
            """;

    /** As the C program, which can be told no other. */
    private static final int PORT = 7174;

    private static final Duration FOR_EVER = ChronoUnit.FOREVER.getDuration();
    private static final Duration PATIENCE = ofSeconds(30);
    private static final Duration RESOLVING = ofSeconds(2);

    private final EventOptions options;
    private final Fabric.WithConnections fabric;
    private final EventChannel channel;
    private final List<Peer> peers = new ArrayList<>();
    private int answered;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            new Udaddy(new EventOptions(USAGE, "", "sbcCStpPf", PORT, PortSpace.UDP, arguments))
                    .run();
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private Udaddy(EventOptions options) throws IOException {
        this.options = options;
        fabric = Fabric.chooseWithConnections(options.fabric());
        channel = fabric.connections().newEventChannel();
    }

    private void run() throws IOException {
        try {
            if (options.isClient()) {
                ask();
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
        handleEvents(() -> answered == options.connections(), FOR_EVER);
        if (options.messages() > 0) {
            IO.println("receiving data transfers");
            for (var peer : peers) {
                peer.turnTo(peer.awaitReceived());
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

    private void ask() throws IOException {
        IO.println("asking " + options.serverAddress());
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
        handleEvents(() -> answered == options.connections(), PATIENCE);
        if (options.messages() > 0) {
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

    /** What has happened, and the next step. */
    private void handle(ConnectionEvent event) throws IOException {
        switch (event) {
            case AddressResolved(var identifier) -> identifier.resolveRoute(RESOLVING);
            case RouteResolved(var identifier) -> {
                var queuePair = peer(identifier).open();
                identifier.connect(ConnectionParameters.of(queuePair.number(), 0));
            }
            case DatagramEstablished(var identifier, var service, _) -> {
                peer(identifier).turnTo(service);
                answered++;
            }
            case DatagramRequest(var identifier, _, _) -> answer(identifier);
            case Failure failure ->
                    throw new IOException(
                            "No answer: %s (%s)"
                                    .formatted(
                                            failure.reason(), failure.getClass().getSimpleName()));
            default -> {
                // news that change nothing
            }
        }
    }

    private void answer(Identifier identifier) throws IOException {
        if (peers.size() == options.connections()) {
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

    /** A queue pair, and where its datagrams go. */
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

        /** As soon as it is known which device leads there. */
        AsyncDatagramQueuePair open() throws IOException {
            device = fabric.verbs().open(identifier.deviceName().orElseThrow());
            domain = device.newProtectionDomain();
            var depth = Math.max(1, options.messages());
            var completions = device.newCompletionDispatcher(2 * depth);
            queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.datagrams(completions)
                                    .sends(depth)
                                    .receives(depth)
                                    .port(identifier.devicePort().orElseThrow()));
            if (options.bytes() > queuePair.maxMessageBytes()) {
                throw new IOException(
                        "-S: a datagram has %d bytes at most here."
                                .formatted(queuePair.maxMessageBytes()));
            }
            queuePair.activate(DatagramParameters.QUEUE_KEY); // of all that ask like this
            // What is received begins with a header, and what is in the rest does not matter.
            memory = domain.newArena(LOCAL_WRITE).region(GlobalRouteHeader.BYTES + options.bytes());
            for (var count = 0; count < options.messages(); count++) {
                received.add(queuePair.receive(memory.slice()));
            }
            return queuePair;
        }

        /** As the server has said. */
        void turnTo(DatagramParameters service) throws IOException {
            destination =
                    new Destination(
                            domain.newAddressHandle(service.address()),
                            service.queuePairNumber(),
                            service.queueKey());
        }

        /** To where a datagram has come from. */
        void turnTo(Completion arrival) throws IOException {
            destination =
                    new Destination(
                            domain.newAddressHandle(queuePair.addressOf(arrival, memory.slice())),
                            arrival.immediate().orElseThrow(),
                            DatagramParameters.QUEUE_KEY);
        }

        void send() throws IOException {
            var message = memory.slice(GlobalRouteHeader.BYTES, options.bytes());
            for (var count = 0; count < options.messages(); count++) {
                sent.add(queuePair.sendWithImmediate(message, destination, queuePair.number()));
            }
        }

        void awaitSent() throws IOException {
            for (var transfer : sent) {
                transfer.await(PATIENCE);
            }
        }

        /** The last one. */
        Completion awaitReceived() throws IOException {
            Completion last = null;
            for (var transfer : received) {
                last = transfer.await(PATIENCE);
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
