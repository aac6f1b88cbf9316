package org.jrdma.tck.verbs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.EventChannel;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.QueuePairState;

/**
 * A program that begins a connection with the system's libraries, prints its progress, and then
 * waits until the test kills its process.
 */
final class DyingPeer {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private DyingPeer() {}

    /**
     * Arguments: the command ("listen" or "connect"), the name of the device, the IP address of the
     * device, and for "connect" the port of the listener.
     */
    static void main(String... arguments) throws Exception {
        var address = InetAddress.ofLiteral(arguments[2]);
        try (var channel = ConnectionManager.system().newEventChannel()) {
            if (arguments[0].equals("listen")) {
                listen(channel, address);
            } else {
                connect(
                        channel,
                        arguments[1],
                        new InetSocketAddress(address, Integer.parseInt(arguments[3])));
            }
            Thread.sleep(Duration.ofMinutes(2)); // The pause is longer than any test.
        }
    }

    private static void listen(EventChannel channel, InetAddress address) throws IOException {
        var listener = channel.newIdentifier(PortSpace.TCP);
        listener.bind(new InetSocketAddress(address, 0));
        listener.listen(4);
        IO.println("at " + listener.localAddress().orElseThrow().getPort());
        await(channel, ConnectionEvent.ConnectRequest.class);
        IO.println("requested");
    }

    private static void connect(EventChannel channel, String device, InetSocketAddress peer)
            throws IOException {
        var identifier = channel.newIdentifier(PortSpace.TCP);
        identifier.resolveAddress(peer, TIMEOUT);
        await(channel, ConnectionEvent.AddressResolved.class);
        identifier.resolveRoute(TIMEOUT);
        await(channel, ConnectionEvent.RouteResolved.class);
        var opened = Verbs.system().open(device);
        var queuePair =
                opened.newProtectionDomain()
                        .newQueuePair(
                                QueuePairOptions.reliable(opened.newCompletionQueue(16))
                                        .sends(1)
                                        .receives(1));
        queuePair.modify(identifier.queuePairChange(QueuePairState.INIT));
        identifier.connect(ConnectionParameters.of(queuePair.number(), 1));
        IO.println("connecting");
        await(channel, ConnectionEvent.ConnectResponse.class);
        IO.println("accepted");
    }

    private static void await(EventChannel channel, Class<? extends ConnectionEvent> expected)
            throws IOException {
        var event = channel.next(TIMEOUT);
        if (!expected.isInstance(event)) {
            throw new IOException("Expected " + expected.getSimpleName() + " but got " + event);
        }
    }
}
