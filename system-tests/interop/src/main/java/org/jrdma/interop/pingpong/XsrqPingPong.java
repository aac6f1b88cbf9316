package org.jrdma.interop.pingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.jrdma.verbs.QueuePairOptions.xrcSend;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.SharedReceiveQueueOptions;
import org.jrdma.verbs.XrcReceiveQueuePair;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Sends messages back and forth between a server and its clients over extended reliable connections
 * (XRC): each message contains the number of its destination, a shared receive queue. Either side
 * can be {@code ibv_xsrq_pingpong} of rdma-core.
 *
 * <p>Clients on one machine share their XRC domain, so the server sends its messages to each client
 * alternately over the connections to all clients.
 */
@Command(name = "xsrq-pingpong", description = "Measures messages over XRC, as ibv_xsrq_pingpong")
public final class XsrqPingPong extends PingPongProgram {

    /** The file that identifies the XRC domain of all processes on this machine. */
    private static final Path DOMAIN = Path.of("/tmp/xrc_domain");

    private static final byte[] END = "END\0".getBytes(US_ASCII);

    // Request IDs, to distinguish completions.
    private static final int RECEIVE = 1;
    private static final int SEND = 2;

    /** The number of slots of a send queue. */
    private static final int SENDS = 16;

    private static final int MAX_CLIENTS = 255;

    @Option(
            names = {"-c", "--clients"},
            paramLabel = "COUNT",
            description = "number of clients that a server waits for (${DEFAULT-VALUE})")
    int clients = 1;

    @Option(
            names = {"-n", "--num_tests"},
            paramLabel = "COUNT",
            description = "number of messages in each direction for each client (${DEFAULT-VALUE})")
    int iterations = 5;

    private final List<Connection> connections = new ArrayList<>();
    private final List<Socket> sockets = new ArrayList<>();

    /**
     * The two queue pairs of a connection.
     *
     * @param sends the prepared sends over this connection, one for each peer
     */
    private record Connection(
            XrcReceiveQueuePair receiver,
            PolledQueuePair sender,
            XrcPeer own,
            List<PreparedSend> sends) {}

    static void main(String... arguments) {
        new XsrqPingPong().execute(arguments);
    }

    @Override
    void checkOptions() {
        super.checkOptions();
        checkRange("-c", clients, 1, MAX_CLIENTS);
        checkRange("-n", iterations, 1, Integer.MAX_VALUE);
        if (!isServer()) {
            clients = 1; // A client has one connection.
        }
    }

    @Override
    void play(Device device) throws IOException {
        try (var xrcDomain = device.openXrcDomain(domainFile());
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(access());
                var completions = device.newCompletionQueue(completionQueue());
                var cursor = completions.newCursor(16);
                var shared =
                        domain.newXrcSharedReceiveQueue(
                                xrcDomain,
                                completions,
                                SharedReceiveQueueOptions.capacity(clients))) {

            var buffer = memory.region(size);
            for (var i = 0; i < clients; i++) {
                var receiver =
                        deviceOptions.gidIndex == null
                                ? xrcDomain.newReceiveQueuePair(deviceOptions.port)
                                : xrcDomain.newReceiveQueuePair(
                                        deviceOptions.port, deviceOptions.gidIndex);
                var sender =
                        domain.newQueuePair(
                                deviceOptions.applyTo(xrcSend(completions)).sends(SENDS));
                var own = new XrcPeer(receiver.number(), sender.endpoint(), shared.number());
                connections.add(new Connection(receiver, sender, own, new ArrayList<>()));
            }
            var receive = shared.prepareReceive(buffer.slice()).id(RECEIVE);
            try {
                for (var i = 0; i < clients; i++) {
                    receive.tryPost();
                }
                for (var peer : connectAll()) {
                    for (var connection : connections) {
                        var send =
                                connection
                                        .sender
                                        .prepareSend(buffer.slice())
                                        .receiveQueue(peer.receiveQueue());
                        connection.sends.add(send.id(SEND));
                    }
                }
                exchange(cursor, receive);
                finish();
            } finally {
                for (var socket : sockets) {
                    socket.close();
                }
            }
        }
        IO.println("success");
    }

    private CompletionQueueOptions completionQueue() {
        var completions = CompletionQueueOptions.capacity(clients + clients * SENDS);
        return events ? completions.waitable() : completions;
    }

    private static Path domainFile() throws IOException {
        try {
            return Files.createFile(DOMAIN);
        } catch (FileAlreadyExistsException e) {
            return DOMAIN;
        }
    }

    /** Connects to the server, or accepts the connections of the clients. Returns the peers. */
    private List<XrcPeer> connectAll() throws IOException {
        var peers = new ArrayList<XrcPeer>();
        if (!isServer()) {
            var socket = addSocket(connect(host, port));
            var connection = connections.getFirst();
            send(socket, connection.own);
            peers.add(connect(connection, socket));
            return peers;
        }
        try (var listener = listen(port)) {
            for (var connection : connections) {
                var socket = addSocket(listener.accept());
                peers.add(connect(connection, socket));
                send(socket, connection.own);
            }
        }
        return peers;
    }

    private Socket addSocket(Socket socket) throws IOException {
        sockets.add(socket);
        return EndpointExchange.configure(socket);
    }

    private static void send(Socket socket, XrcPeer own) throws IOException {
        IO.println(own.describe("local"));
        socket.getOutputStream().write(own.toMessage());
    }

    private XrcPeer connect(Connection connection, Socket socket) throws IOException {
        var peer = XrcPeer.fromMessage(EndpointExchange.read(socket, XrcPeer.MESSAGE_BYTES));
        IO.println(peer.describe("remote"));
        var connectOptions = DirectConnectOptions.DEFAULT.pathMtu(mtu).serviceLevel(serviceLevel);
        connection.receiver.connect(peer.sender(), connectOptions);
        connection.sender.connect(peer.receiverEndpoint(), connectOptions);
        return peer;
    }

    /** Alternately sends and receives messages with each peer. The server sends first. */
    private void exchange(CompletionCursor cursor, PreparedReceive receive) throws IOException {
        var messages = (long) clients * iterations;
        var sent = new int[clients];
        var turns = new ArrayDeque<Integer>(); // The clients to which this side sends next.
        for (var i = 0; i < clients && isServer(); i++) {
            turns.add(i);
        }
        var arrived = 0L;
        var delivered = 0L;
        while (true) {
            for (var i = turns.size(); i > 0; i--) {
                var client = turns.remove();
                var connection = connections.get((client + sent[client]) % clients);
                if (connection.sends.get(client).tryPost()) {
                    sent[client]++;
                } else {
                    turns.add(client); // Repeated, because the send queue has no free slot.
                }
            }
            if (arrived == messages && delivered == messages) {
                return;
            }
            await(cursor, "");
            while (cursor.next()) {
                checkSuccess(cursor, cursor.id() == SEND);
                if (cursor.id() == SEND) {
                    delivered++;
                    continue;
                }
                arrived++;
                receive.tryPost();
                var client = clientAt(cursor.queuePairNumber());
                if (sent[client] < iterations) {
                    turns.add(client);
                }
            }
        }
    }

    /**
     * Returns the index of the client that sends to a queue pair. A client itself has only one
     * peer, the server, whose index is 0.
     */
    private int clientAt(int receiver) throws IOException {
        if (connections.size() == 1) {
            return 0;
        }
        for (var i = 0; i < connections.size(); i++) {
            if (connections.get(i).own.receiver() == receiver) {
                return i;
            }
        }
        throw new IOException(
                "A message arrived at the unknown queue pair %06x.".formatted(receiver));
    }

    /**
     * Waits until all sides have finished, because a side must not end while another side may still
     * send to it.
     */
    private void finish() throws IOException {
        if (!isServer()) {
            write(END);
        }
        for (var socket : sockets) {
            if (!Arrays.equals(EndpointExchange.read(socket, END.length), END)) {
                throw new IOException("The other side did not confirm the end of the exchange.");
            }
        }
        if (isServer()) {
            write(END);
        }
    }

    private void write(byte[] message) throws IOException {
        for (var socket : sockets) {
            socket.getOutputStream().write(message);
        }
    }
}
