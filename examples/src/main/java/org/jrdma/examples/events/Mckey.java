package org.jrdma.examples.events;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionEvent.AddressResolved;
import org.jrdma.verbs.cm.ConnectionEvent.Failure;
import org.jrdma.verbs.cm.ConnectionEvent.MulticastJoined;
import org.jrdma.verbs.cm.EventChannel;
import org.jrdma.verbs.cm.Identifier;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.GlobalRouteHeader;

/**
 * Joins a multicast group by its IP address, and sends datagrams to all of its members or receives
 * them; as the C program {@code mckey}, which may be any of the members.
 */
public final class Mckey {

    private static final String USAGE =
            """
            usage: mckey -m GROUP [options]       receives what is sent to the group at this IP address
                   mckey -m GROUP -s [options]    sends to it

              -b ADDRESS      of the RDMA device (the one that the system's routes lead to)
              -o              joins to send only
              -P PORT_SPACE   udp or ipoib (udp)
              -p NUMBER       the same, by the number in C: 0x0111 or 0x0002
              -c MEMBERS      how many queue pairs join (1)
              -C MESSAGES     to or from each (10)
              -S SIZE         the bytes of each, no more than a packet has (100)
              -f FABRIC       system, or software: RDMA in Java, for a machine without a device

            Who receives waits for ever.\
            """;

    private static final Duration FOR_EVER = ChronoUnit.FOREVER.getDuration();
    private static final Duration PATIENCE = ofSeconds(30);
    private static final Duration RESOLVING = ofSeconds(2);

    /** Until the switches know of the members; nobody tells. */
    private static final Duration SPREADING = ofSeconds(1);

    private final EventOptions options;
    private final boolean sends;
    private final Fabric.WithConnections fabric;
    private final EventChannel channel;
    private final List<Member> members = new ArrayList<>();
    private int joined;

    static void main(String... arguments) throws InterruptedException {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            new Mckey(new EventOptions(USAGE, "so", "mbcCSpPf", 0, PortSpace.UDP, arguments)).run();
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private Mckey(EventOptions options) throws IOException {
        this.options = options;
        sends = options.has("-s");
        fabric = Fabric.chooseWithConnections(options.fabric());
        channel = fabric.connections().newEventChannel();
    }

    private void run() throws IOException, InterruptedException {
        try {
            join();
            if (options.messages() > 0 && sends) {
                Thread.sleep(SPREADING);
                IO.println("initiating data transfers");
                for (var member : members) {
                    member.send();
                }
            } else if (options.messages() > 0) {
                IO.println("receiving data transfers");
                for (var member : members) {
                    member.awaitReceived();
                }
            }
            IO.println("data transfers complete");
            for (var member : members) {
                member.identifier.leaveMulticast(options.group());
            }
        } finally {
            members.forEach(Member::close);
            channel.close();
        }
        IO.println("test complete");
    }

    private void join() throws IOException {
        var group = options.group();
        IO.println("joining " + group.getHostAddress());
        for (var count = 0; count < options.connections(); count++) {
            var identifier = channel.newIdentifier(options.portSpace());
            members.add(new Member(identifier));
            if (options.isBound()) {
                identifier.bind(options.localAddress()); // then it has a device already
                join(identifier);
            } else {
                lookForDevice(identifier, new InetSocketAddress(group, 0));
            }
        }
        while (joined < options.connections()) {
            handle(channel.next(PATIENCE));
        }
    }

    private static void lookForDevice(Identifier identifier, InetSocketAddress group)
            throws IOException {
        try {
            identifier.resolveAddress(group, RESOLVING);
        } catch (IOException e) {
            throw new IOException(e.getMessage() + " -b names one.", e);
        }
    }

    private void handle(ConnectionEvent event) throws IOException {
        switch (event) {
            case AddressResolved(var identifier) -> join(identifier);
            case MulticastJoined(var identifier, _, var way) -> {
                for (var member : members) {
                    if (member.identifier == identifier) {
                        member.open(way);
                    }
                }
                joined++;
            }
            case Failure failure -> throw new IOException("It did not join: " + failure.reason());
            default -> {
                // news that change nothing
            }
        }
    }

    private void join(Identifier identifier) throws IOException {
        identifier.joinMulticast(
                options.group(),
                options.has("-o") ? MulticastRole.SENDER : MulticastRole.FULL_MEMBER);
    }

    /** A queue pair in the group, or that sends to it. */
    private final class Member implements AutoCloseable {

        private final Identifier identifier;
        private final List<Transfer> received = new ArrayList<>();
        private Device device;
        private ProtectionDomain domain;
        private MemoryRegion memory;
        private AsyncDatagramQueuePair queuePair;
        private Destination group;

        Member(Identifier identifier) {
            this.identifier = identifier;
        }

        /** When it has joined. */
        void open(DatagramParameters way) throws IOException {
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
            queuePair.activate(way.queueKey());
            // What is received begins with a header, and what is in the rest does not matter.
            memory = domain.newArena(LOCAL_WRITE).region(GlobalRouteHeader.BYTES + options.bytes());
            group =
                    new Destination(
                            domain.newAddressHandle(way.address()),
                            way.queuePairNumber(),
                            way.queueKey());
            var gid = way.address().route().orElseThrow().destination();
            IO.println("joined %s, LID 0x%x".formatted(gid, way.address().lid()));
            if (!sends) {
                for (var count = 0; count < options.messages(); count++) {
                    received.add(queuePair.receive(memory.slice()));
                }
                queuePair.attachMulticast(gid, way.address().lid());
            }
        }

        void send() throws IOException {
            var message = memory.slice(GlobalRouteHeader.BYTES, options.bytes());
            var sent = new ArrayList<Transfer>();
            for (var count = 0; count < options.messages(); count++) {
                sent.add(queuePair.sendWithImmediate(message, group, queuePair.number()));
            }
            for (var transfer : sent) {
                transfer.await(PATIENCE);
            }
        }

        void awaitReceived() throws IOException {
            for (var transfer : received) {
                transfer.await(FOR_EVER);
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
