package org.jrdma.examples.udmulticast;

import static org.jrdma.verbs.QueuePairOptions.datagrams;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import module org.jrdma.verbs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MulticastSocket;
import java.net.NetworkInterface;
import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Sends a datagram to all members of a multicast group.
 *
 * <pre>
 * ./jrdma example ud-multicast               # any number of receivers
 * ./jrdma example ud-multicast 'Hello'       # the sender
 * </pre>
 */
@Command(name = "ud-multicast", description = "A datagram to all members of a multicast group")
public final class UdMulticast extends AbstractExample {

    /** A receiver drops datagrams that carry another queue key. */
    private static final int QUEUE_KEY = 0x1d_3a7b;

    @Mixin private DeviceOptions deviceOptions;

    @Option(names = "-m", paramLabel = "GROUP", description = "IP address of the group")
    private InetAddress group = InetAddress.ofLiteral("239.77.0.1");

    @Option(names = "-n", paramLabel = "COUNT", description = "messages to receive")
    private int messages = 1;

    @Parameters(arity = "0..1", paramLabel = "TEXT", description = "text to send to the group")
    private String text = "";

    static void main(String... arguments) {
        new UdMulticast().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        try (var device = deviceOptions.open(verbs());
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE);
                var completions = device.newCompletionDispatcher(256)) {
            try (var queuePair =
                    domain.newQueuePair(deviceOptions.applyTo(datagrams(completions)))) {
                queuePair.activate(QUEUE_KEY);
                if (text.isEmpty()) {
                    var own = queuePair.endpoint().gid();
                    var netDevice =
                            device.gids(deviceOptions.port).stream()
                                    .filter(entry -> entry.gid().equals(own))
                                    .map(GidEntry::netDevice)
                                    .findFirst();
                    receive(queuePair, memory, netDevice.orElseThrow());
                } else {
                    var address = domain.newAddressHandle(queuePair.addressOf(Gid.of(group), 0));
                    var members = new Destination(address, Destination.MULTICAST, QUEUE_KEY);
                    var message = memory.slice(memory.allocateFrom(text));
                    queuePair.send(message, members).await(TIMEOUT);
                    // Sent, but perhaps not delivered: no receiver acknowledges a datagram.
                    IO.println("sent \"%s\" to %s".formatted(text, group.getHostAddress()));
                }
            }
        }
    }

    private void receive(AsyncDatagramQueuePair queuePair, RegisteredArena memory, String netDevice)
            throws IOException {
        // The adapter places a header with the sender's address before each message.
        try (var buffer = memory.region(GlobalRouteHeader.BYTES + queuePair.maxMessageBytes());
                var member = new MulticastSocket()) {
            // On RoCE, a group's packets reach an interface only while a socket on that interface
            // is a member of the IP multicast group.
            member.joinGroup(
                    new InetSocketAddress(group, 0), NetworkInterface.getByName(netDevice));
            queuePair.attachMulticast(Gid.of(group), 0);
            for (var received = 0; received < messages; received++) {
                var next = queuePair.receive(buffer.slice()); // Earlier datagrams are dropped.
                if (received == 0) {
                    IO.println("waiting in the group " + group.getHostAddress());
                }
                next.await(FOREVER);
                var source = GlobalRouteHeader.of(buffer.segment()).source();
                var message = buffer.segment().getString(GlobalRouteHeader.BYTES);
                IO.println("received \"%s\" from %s".formatted(message, source));
            }
        }
    }
}
