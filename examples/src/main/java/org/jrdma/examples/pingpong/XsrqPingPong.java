package org.jrdma.examples.pingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.jrdma.verbs.QueuePairOptions.xrcSend;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.ON_DEMAND;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jrdma.examples.Tcp;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.ConnectOptions;
import org.jrdma.verbs.PolledXrcSendQueuePair;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.XrcReceiveQueuePair;
import org.jrdma.verbs.model.Access;

/**
 * Sends messages to and fro between a server and its clients over extended reliable connections:
 * each side names the receive queue that a message is for. As {@code ibv_xsrq_pingpong} of
 * rdma-core does; either side can be the C program.
 *
 * <p>Clients on one machine share their XRC domain, so the server sends to each over the
 * connections to all, by turns.
 */
public final class XsrqPingPong implements AutoCloseable {

    /** The file by which processes of one machine share their domain. */
    private static final Path DOMAIN = Path.of("/tmp/xrc_domain");

    private static final byte[] END = "END\0".getBytes(US_ASCII);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    // The numbers by which completions are told apart.
    private static final int RECEIVE = 1;
    private static final int SEND = 2;

    /** More of them wait for their turn. */
    private static final int SENDS = 16;

    private final PingPongOptions options;
    private final CompletionCursor cursor;
    private final PreparedReceive receive;
    private final List<Connection> connections;
    private final List<Socket> sockets = new ArrayList<>();

    /** The two directions of one; with sends to each of the other sides when these are known. */
    private record Connection(
            XrcReceiveQueuePair receiver,
            PolledXrcSendQueuePair sender,
            XrcParty own,
            List<PreparedSend> sends) {}

    private XsrqPingPong(
            PingPongOptions options,
            CompletionCursor cursor,
            PreparedReceive receive,
            List<Connection> connections) {
        this.options = options;
        this.cursor = cursor;
        this.receive = receive;
        this.connections = connections;
    }

    static void main(String... arguments) {
        try {
            var options = PingPongOptions.parse(PingPongOptions.Program.XSRQ, arguments);
            if (options.help) {
                IO.println(options.usage());
            } else {
                play(options);
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private static void play(PingPongOptions options) throws IOException {
        var access =
                options.onDemand
                        ? new Access[] {LOCAL_WRITE, ON_DEMAND}
                        : new Access[] {LOCAL_WRITE};
        try (var device = options.openDevice();
                var xrcDomain = device.openXrcDomain(domainFile());
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(access);
                var completions = device.newCompletionQueue(completionQueue(options));
                var cursor = completions.newCursor(16);
                var shared =
                        domain.newXrcSharedReceiveQueue(xrcDomain, completions, options.clients)) {

            // One buffer for all that comes and goes: nobody looks at what is in it.
            var buffer = memory.region(options.size);
            var connections = new ArrayList<Connection>();
            for (var i = 0; i < options.clients; i++) {
                var receiver =
                        options.gidIndex < 0
                                ? xrcDomain.newReceiveQueuePair(options.devicePort)
                                : xrcDomain.newReceiveQueuePair(
                                        options.devicePort, options.gidIndex);
                var sender = domain.newQueuePair(options.placed(xrcSend(completions)).sends(SENDS));
                var own = new XrcParty(receiver.number(), sender.endpoint(), shared.number());
                connections.add(new Connection(receiver, sender, own, new ArrayList<>()));
            }
            var receive = shared.prepareReceive(buffer.slice()).id(RECEIVE);
            try (var game = new XsrqPingPong(options, cursor, receive, connections)) {
                for (var i = 0; i < options.clients; i++) {
                    receive.tryPost();
                }
                for (var peer : game.meet()) {
                    for (var connection : connections) {
                        connection.sends.add(
                                connection
                                        .sender
                                        .prepareSend(buffer.slice(), peer.receiveQueue())
                                        .id(SEND));
                    }
                }
                game.rally();
                game.part();
            }
        } // and with the domains, what is in them
        IO.println("success");
    }

    private static CompletionQueueOptions completionQueue(PingPongOptions options) {
        var completions =
                CompletionQueueOptions.capacity(options.clients + options.clients * SENDS);
        return options.events ? completions.waitable() : completions;
    }

    private static Path domainFile() throws IOException {
        try {
            return Files.createFile(DOMAIN);
        } catch (FileAlreadyExistsException e) {
            return DOMAIN;
        }
    }

    /** Connects to the server, or to each client as it comes. Returns the other sides. */
    private List<XrcParty> meet() throws IOException {
        var peers = new ArrayList<XrcParty>();
        if (!options.isServer()) {
            var socket = keep(Tcp.call(options.host, options.port));
            var connection = connections.getFirst();
            tell(socket, connection.own);
            peers.add(connect(connection, socket));
            return peers;
        }
        try (var listener = Tcp.listen(options.port)) {
            for (var connection : connections) {
                var socket = keep(listener.accept());
                peers.add(connect(connection, socket));
                tell(socket, connection.own);
            }
        }
        return peers;
    }

    private Socket keep(Socket socket) throws IOException {
        sockets.add(socket);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) PATIENCE.toMillis());
        return socket;
    }

    private static void tell(Socket socket, XrcParty own) throws IOException {
        IO.println(own.describe("local"));
        socket.getOutputStream().write(own.toMessage());
    }

    private XrcParty connect(Connection connection, Socket socket) throws IOException {
        var peer = XrcParty.fromMessage(read(socket, XrcParty.MESSAGE_BYTES));
        IO.println(peer.describe("remote"));
        var wanted = new ConnectOptions().pathMtu(options.mtu).serviceLevel(options.serviceLevel);
        connection.receiver.connect(peer.sender(), wanted);
        connection.sender.connect(peer.receiverEndpoint(), wanted);
        return peer;
    }

    /** Messages with each of the other sides, as many each way; the server begins. */
    private void rally() throws IOException {
        var clients = connections.size();
        var messages = (long) clients * options.iterations;
        var sent = new int[clients];
        var turns = new ArrayDeque<Integer>(); // whom to send to
        for (var i = 0; i < clients && options.isServer(); i++) {
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
                    turns.add(client); // when there is room
                }
            }
            if (arrived == messages && delivered == messages) {
                return;
            }
            await();
            while (cursor.next()) {
                if (!cursor.isSuccess()) {
                    throw new IOException(
                            "A %s failed: %s, that is, %s."
                                    .formatted(
                                            cursor.id() == SEND ? "send" : "receive",
                                            cursor.status(),
                                            cursor.status().meaning()));
                }
                if (cursor.id() == SEND) {
                    delivered++;
                    continue;
                }
                arrived++;
                receive.tryPost();
                var client = clientAt(cursor.queuePairNumber());
                if (sent[client] < options.iterations) {
                    turns.add(client);
                }
            }
        }
    }

    /** Who sends to a queue pair. What comes to a client is from the server, wherever it comes. */
    private int clientAt(int receiver) throws IOException {
        if (connections.size() == 1) {
            return 0;
        }
        for (var i = 0; i < connections.size(); i++) {
            if (connections.get(i).own.receiver() == receiver) {
                return i;
            }
        }
        throw new IOException("Something came to queue pair %06x of nobody.".formatted(receiver));
    }

    private void await() throws IOException {
        if (options.events) {
            if (cursor.await(PATIENCE) > 0) {
                return;
            }
        } else {
            var deadline = System.nanoTime() + PATIENCE.toNanos();
            do {
                if (cursor.poll() > 0) {
                    return;
                }
            } while (System.nanoTime() - deadline < 0);
        }
        throw new IOException(
                "Nothing has come for %d s. Has the other side ended?"
                        .formatted(PATIENCE.toSeconds()));
    }

    /** Nobody leaves while somebody may still be sent to over their connection. */
    private void part() throws IOException {
        if (!options.isServer()) {
            write(END);
        }
        for (var socket : sockets) {
            if (!Arrays.equals(read(socket, END.length), END)) {
                throw new IOException("The other side does not say that it ends.");
            }
        }
        if (options.isServer()) {
            write(END);
        }
    }

    private void write(byte[] message) throws IOException {
        for (var socket : sockets) {
            socket.getOutputStream().write(message);
        }
    }

    private static byte[] read(Socket socket, int length) throws IOException {
        try {
            var message = socket.getInputStream().readNBytes(length);
            if (message.length == length) {
                return message;
            }
        } catch (SocketTimeoutException e) {
            throw new IOException("The other side is silent; look there for the reason.", e);
        }
        throw new IOException("The other side has left; look there for the reason.");
    }

    @Override
    public void close() throws IOException {
        for (var socket : sockets) {
            socket.close();
        }
    }
}
