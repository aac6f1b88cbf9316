package org.jrdma.interop.events;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
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
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.GlobalRouteHeader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Joins a multicast group by its IP address, and sends datagrams to all members or receives them.
 * Any member can be {@code mckey} of rdma-core.
 */
@Command(name = "mckey", description = "Joins multicast groups by address, as mckey")
public final class Mckey extends AbstractEventChannelProgram {

    /** The time that switches need to learn about new members of the group. */
    private static final Duration JOIN_DELAY = ofSeconds(1);

    @Option(
            names = "-m",
            required = true,
            paramLabel = "GROUP",
            description = "the IP address of the group")
    private String group;

    @Option(names = "-s", description = "send to the group instead of receiving")
    private boolean sends;

    @Option(names = "-o", description = "join for sending only")
    private boolean sendOnly;

    private final List<Member> members = new ArrayList<>();
    private EventChannel channel;
    private int joined;

    private Mckey() {
        super(PortSpace.UDP);
    }

    static void main(String... arguments) {
        new Mckey().execute(arguments);
    }

    @Option(names = "-p", paramLabel = "NUMBER", description = "the port space, as in C")
    void portSpace(int number) {
        portSpace = portSpaceOf(number);
    }

    @Override
    protected void run() throws IOException, InterruptedException {
        checkOptions(true);
        channel = connectionManager().newEventChannel();
        try {
            join();
            if (messages > 0 && sends) {
                Thread.sleep(JOIN_DELAY);
                IO.println("initiating data transfers");
                for (var member : members) {
                    member.send();
                }
            } else if (messages > 0) {
                IO.println("receiving data transfers");
                for (var member : members) {
                    member.awaitReceived();
                }
            }
            IO.println("data transfers complete");
            for (var member : members) {
                member.identifier.leaveMulticast(groupAddress());
            }
        } finally {
            members.forEach(Member::close);
            channel.close();
        }
        IO.println("test complete");
    }

    private InetAddress groupAddress() throws IOException {
        return address(group, 0).getAddress();
    }

    private void join() throws IOException {
        var group = groupAddress();
        IO.println("joining " + group.getHostAddress());
        for (var count = 0; count < connections; count++) {
            var identifier = channel.newIdentifier(portSpace);
            members.add(new Member(identifier));
            if (!bind.isEmpty()) {
                // Binding assigns a device, so the address need not be resolved.
                identifier.bind(listenAddress(0));
                join(identifier);
            } else {
                resolveDevice(identifier, new InetSocketAddress(group, 0));
            }
        }
        while (joined < connections) {
            handle(channel.next(STEP_TIMEOUT));
        }
    }

    private static void resolveDevice(Identifier identifier, InetSocketAddress group)
            throws IOException {
        try {
            identifier.resolveAddress(group, RESOLVE_TIMEOUT);
        } catch (IOException e) {
            throw new IOException(e.getMessage() + " Select a device with -b.", e);
        }
    }

    private void handle(ConnectionEvent event) throws IOException {
        switch (event) {
            case AddressResolved(var identifier) -> join(identifier);
            case MulticastJoined(var identifier, _, var parameters) -> {
                for (var member : members) {
                    if (member.identifier == identifier) {
                        member.open(parameters);
                    }
                }
                joined++;
            }
            case Failure failure ->
                    throw new IOException("Cannot join the group: " + failure.reason());
            default -> {
                // The other events require no action.
            }
        }
    }

    private void join(Identifier identifier) throws IOException {
        identifier.joinMulticast(
                groupAddress(), sendOnly ? MulticastRole.SENDER : MulticastRole.FULL_MEMBER);
    }

    /** A queue pair that receives from the group, or only sends to it. */
    private final class Member implements AutoCloseable {

        private final Identifier identifier;
        private final List<Transfer> received = new ArrayList<>();
        private Device device;
        private ProtectionDomain domain;
        private MemoryRegion memory;
        private AsyncDatagramQueuePair queuePair;
        private Destination all;

        Member(Identifier identifier) {
            this.identifier = identifier;
        }

        /** Creates the queue pair. Called after the group was joined. */
        void open(DatagramParameters parameters) throws IOException {
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
            queuePair.activate(parameters.queueKey());
            // A received message starts with a header. The content of the message does not matter.
            memory = domain.newArena(LOCAL_WRITE).region(GlobalRouteHeader.BYTES + bytes);
            all =
                    new Destination(
                            domain.newAddressHandle(parameters.address()),
                            parameters.queuePairNumber(),
                            parameters.queueKey());
            var gid = parameters.address().route().orElseThrow().destination();
            IO.println("joined %s, LID 0x%x".formatted(gid, parameters.address().lid()));
            if (!sends) {
                for (var count = 0; count < messages; count++) {
                    received.add(queuePair.receive(memory.slice()));
                }
                queuePair.attachMulticast(gid, parameters.address().lid());
            }
        }

        void send() throws IOException {
            var message = memory.slice(GlobalRouteHeader.BYTES, bytes);
            var sent = new ArrayList<Transfer>();
            for (var count = 0; count < messages; count++) {
                sent.add(queuePair.sendWithImmediate(message, all, queuePair.number()));
            }
            for (var transfer : sent) {
                transfer.await(STEP_TIMEOUT);
            }
        }

        void awaitReceived() throws IOException {
            for (var transfer : received) {
                transfer.await(FOREVER);
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
