package org.jrdma.examples.udmulticast;

import static org.jrdma.verbs.QueuePairOptions.datagrams;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MulticastSocket;
import java.net.NetworkInterface;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.RegisteredArena;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.GlobalRouteHeader;

/** A datagram for all who have joined a group: one sends it, and any number receive it. */
public final class UdMulticast {

    private static final String USAGE =
            """
            usage: ud-multicast [options]         joins the group and shows what is sent to it
                   ud-multicast [options] TEXT    sends TEXT to the group

              -d DEVICE   the RDMA device (the first there is)
              -f FABRIC   "system", or "software" (that where the machine has no RDMA device)
              -g INDEX    the row of its GID table to send from (the best there is)
              -m GROUP    the group's IP address (239.77.0.1)
              -n COUNT    how many messages to show before leaving (1)

            Who receives waits for ever.\
            """;

    private static final Duration FOR_EVER = ChronoUnit.FOREVER.getDuration();
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PORT = 1;

    /** Who does not send this is not heard. */
    private static final int QUEUE_KEY = 0x1d_3a7b;

    private String device = "";
    private String fabric = "";
    private int gidIndex = -1;
    private String group = "239.77.0.1";
    private int messages = 1;
    private String text = "";

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            new UdMulticast(arguments).run();
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private void run() throws IOException {
        var verbs = Fabric.choose(fabric);
        try (var device = this.device.isEmpty() ? verbs.openFirst() : verbs.open(this.device);
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE);
                var completions = device.newCompletionDispatcher(256)) {
            var source = source(device);
            var options = datagrams(completions).port(PORT).gidIndex(source.index());
            try (var queuePair = domain.newQueuePair(options)) {
                queuePair.activate(QUEUE_KEY);
                if (text.isEmpty()) {
                    receive(queuePair, memory, source);
                } else {
                    var way = queuePair.addressOf(Gid.of(InetAddress.getByName(group)), 0);
                    send(
                            queuePair,
                            memory,
                            new Destination(
                                    domain.newAddressHandle(way),
                                    Destination.MULTICAST, // no queue pair, but all in the group
                                    QUEUE_KEY));
                }
            }
        }
    }

    private void send(AsyncDatagramQueuePair queuePair, RegisteredArena memory, Destination all)
            throws IOException {
        var message = memory.allocateFrom(text);
        queuePair.send(memory.slice(message), all).await(PATIENCE);
        IO.println("sent \"%s\" to %s".formatted(text, group)); // nobody says whether it arrived
    }

    private void receive(AsyncDatagramQueuePair queuePair, RegisteredArena memory, GidEntry source)
            throws IOException {
        // Each message comes behind a header that says where it came from.
        var bytes = GlobalRouteHeader.BYTES + queuePair.maxMessageBytes();
        try (var buffer = memory.region(bytes);
                var member = new MulticastSocket()) {
            // On RoCE the network brings a group's packets to an interface that is in the IP group,
            // which it is as long as somebody has a socket in it.
            member.joinGroup(
                    new InetSocketAddress(InetAddress.getByName(group), 0),
                    NetworkInterface.getByName(source.netDevice()));
            queuePair.attachMulticast(Gid.of(InetAddress.getByName(group)), 0);
            for (var shown = 0; shown < messages; shown++) {
                var next = queuePair.receive(buffer.slice()); // what comes before that is lost
                if (shown == 0) {
                    IO.println("waiting in the group " + group);
                }
                next.await(FOR_EVER);
                IO.println(
                        "received \"%s\" from %s"
                                .formatted(
                                        buffer.segment().getString(GlobalRouteHeader.BYTES),
                                        GlobalRouteHeader.of(buffer.segment()).source()));
            }
        }
    }

    private GidEntry source(Device device) throws IOException {
        var row =
                gidIndex < 0
                        ? device.chooseGid(PORT).best()
                        : device.gids(PORT).stream()
                                .filter(entry -> entry.index() == gidIndex)
                                .findFirst();
        return row.orElseThrow(
                () -> new IOException("%s has no such GID to send from".formatted(device.name())));
    }

    private UdMulticast(String... arguments) {
        for (var rest = List.of(arguments).iterator(); rest.hasNext(); ) {
            var argument = rest.next();
            if (!argument.startsWith("-") && text.isEmpty()) {
                text = argument;
            } else if (List.of("-d", "-f", "-g", "-m", "-n").contains(argument) && rest.hasNext()) {
                var value = rest.next();
                switch (argument) {
                    case "-d" -> device = value;
                    case "-f" -> fabric = value;
                    case "-g" -> gidIndex = number(value);
                    case "-m" -> group = value;
                    default -> messages = number(value);
                }
            } else {
                throw new IllegalArgumentException(
                        argument + " is too much, or misses its value.\n\n" + USAGE);
            }
        }
    }

    private static int number(String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(value + " is not a number.\n\n" + USAGE, e);
        }
    }
}
