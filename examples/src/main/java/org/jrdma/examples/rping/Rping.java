package org.jrdma.examples.rping;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.cm.Route;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * A ping over a connection by address and port, as the C program {@code rping} plays it; either
 * side can be that one. The client names its source, which the server reads, and then its sink,
 * which the server writes. Between these steps each waits for a message of the other's.
 */
public final class Rping {

    private static final String USAGE =
            """
            usage: rping -s [options]               waits for a client and answers its pings
                   rping -c -a ADDRESS [options]    sends pings to the server at ADDRESS

              -a ADDRESS  of an RDMA device: to listen at (all there are), or to connect to
              -I ADDRESS  of an RDMA device, for the client to connect from
              -p PORT     (7174)
              -P          the server takes any number of clients, many at a time, and never ends
              -C COUNT    how many pings; without it, or with 0, they go on for ever
              -S SIZE     the bytes of each (64), the same on both sides
              -f FABRIC   system, or software: RDMA in Java, for a machine without a device
              -v          shows them
              -V          compares what comes back with what was sent
              -d          shows what the SDK does
              -q          nothing: here the queue pair is the program's own anyway

            The server waits for a client for ever, and each side for the next step of the other's for 30 s.\
            """;

    private static final Duration FOR_EVER = ChronoUnit.FOREVER.getDuration();
    private static final Duration PATIENCE = ofSeconds(30);
    private static final int MESSAGE_BYTES = 16;
    private static final ValueLayout.OfLong BIG_LONG =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt BIG_INT =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int FIRST = 'A';
    private static final int LAST = 'z';

    private boolean serves;
    private boolean connects;
    private boolean persists;
    private String address = "";
    private String source = "";
    private int port = 7174;
    private int count = Integer.MAX_VALUE;
    private int size = 64;
    private String fabric = "";
    private boolean shows;
    private boolean compares;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            new Rping(arguments).run();
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private void run() throws IOException {
        var chosen = Fabric.chooseWithConnections(fabric);
        if (serves) {
            serve(chosen);
        } else {
            ping(chosen.connections(), chosen.verbs());
        }
    }

    private void serve(Fabric.WithConnections fabric) throws IOException {
        var here = new InetSocketAddress(address, port);
        try (var listener = fabric.connections().listen(here)) {
            IO.println("waiting at " + fabric.place(listener.localAddress()));
            do {
                var request = listener.next(FOR_EVER);
                if (persists) {
                    Thread.ofVirtual().start(() -> serveOneOfMany(request, fabric.verbs()));
                } else {
                    serve(request, fabric.verbs());
                }
            } while (persists);
        }
    }

    /** What becomes of one client is no matter of the others. */
    private void serveOneOfMany(ConnectionRequest request, Verbs verbs) {
        try {
            IO.println("client " + request.peerAddress());
            serve(request, verbs);
            IO.println("client %s has left".formatted(request.peerAddress()));
        } catch (IOException | IllegalArgumentException e) {
            System.err.println("client %s: %s".formatted(request.peerAddress(), e.getMessage()));
        }
    }

    private void serve(ConnectionRequest asked, Verbs verbs) throws IOException {
        try (var request = asked;
                var device = verbs.open(request.deviceName());
                var domain = device.newProtectionDomain();
                var buffers = new Buffers(domain, size);
                var completions = device.newCompletionDispatcher(16)) {
            // The client's first message may come as soon as it knows that it is connected.
            var next = new AtomicReference<Transfer>();
            var options =
                    options(completions)
                            .prepared(queuePair ->
                                    next.set(queuePair.receive(buffers.received.slice())));
            try (var connection = request.accept(domain, options, PATIENCE)) {
                var queuePair = connection.queuePair();
                for (var pings = 0; pings < count; pings++) {
                    if (!next.get().awaitCompletion(PATIENCE).isSuccess()) {
                        break; // flushed: the client has had enough
                    }
                    answer(queuePair, buffers, next);
                }
                connection.disconnect(PATIENCE);
            }
        }
    }

    /** Reads the source and writes the sink. */
    private void answer(AsyncQueuePair queuePair, Buffers buffers, AtomicReference<Transfer> next)
            throws IOException {
        var source = buffers.named();
        if (source.length() > size) {
            throw new IOException(
                    "The client's pings have %d bytes: -S must say so here too"
                            .formatted(source.length()));
        }
        queuePair.read(buffers.data.slice(0, source.length()), source).await(PATIENCE);
        var text = text(buffers.data.segment().asSlice(0, source.length()));
        if (shows) {
            IO.println("server ping data: " + text.getString(0));
        }
        next.set(queuePair.receive(buffers.received.slice()));
        queuePair.send(buffers.sent.slice()).await(PATIENCE);
        next.get().await(PATIENCE);
        queuePair.write(buffers.data.slice(0, text.byteSize()), buffers.named()).await(PATIENCE);
        next.set(queuePair.receive(buffers.received.slice()));
        queuePair.send(buffers.sent.slice()).await(PATIENCE);
    }

    /** Up to the 0 that ends it, which a client may forget. */
    private static MemorySegment text(MemorySegment pinged) throws IOException {
        for (var length = 0L; length < pinged.byteSize(); length++) {
            if (pinged.get(JAVA_BYTE, length) == 0) {
                return pinged.asSlice(0, length + 1);
            }
        }
        throw new IOException("The client's ping is a text without an end");
    }

    private void ping(ConnectionManager connections, Verbs verbs) throws IOException {
        try (var route = route(connections);
                var device = verbs.open(route.deviceName());
                var domain = device.newProtectionDomain();
                var buffers = new Buffers(domain, size);
                var completions = device.newCompletionDispatcher(16);
                var connection = route.connect(domain, options(completions), PATIENCE)) {
            var queuePair = connection.queuePair();
            for (var pings = 0; pings < count; pings++) {
                fill(buffers.source.segment(), pings);
                buffers.data.segment().fill((byte) 0);
                exchange(queuePair, buffers, buffers.source);
                exchange(queuePair, buffers, buffers.data);
                if (compares && buffers.source.segment().mismatch(buffers.data.segment()) >= 0) {
                    throw new IOException("data mismatch in ping " + pings);
                }
                if (shows) {
                    IO.println("ping data: " + buffers.data.segment().getString(0));
                }
            }
            connection.disconnect(PATIENCE);
        }
    }

    private Route route(ConnectionManager connections) throws IOException {
        var server = new InetSocketAddress(address, port);
        if (source.isEmpty()) {
            return connections.resolve(server, PATIENCE);
        }
        var from = new InetSocketAddress(source, 0);
        return connections.resolve(
                new AddressInfo(
                        QueuePairType.RELIABLE_CONNECTION,
                        PortSpace.TCP,
                        Optional.of(from),
                        Optional.of(server)),
                PATIENCE);
    }

    /** Names memory to the server, and waits until it has done its part. */
    private static void exchange(AsyncQueuePair queuePair, Buffers buffers, MemoryRegion memory)
            throws IOException {
        var goAhead = queuePair.receive(buffers.received.slice());
        buffers.name(memory);
        queuePair.send(buffers.sent.slice()).await(PATIENCE);
        goAhead.await(PATIENCE);
    }

    /** A title, characters that begin with another one in each ping, and a zero. */
    private static void fill(MemorySegment data, int ping) {
        var text = new StringBuilder("rdma-ping-%s: ".formatted(ping));
        for (var place = 0; text.length() < data.byteSize(); place++) {
            text.append((char) (FIRST + (ping + place) % (LAST - FIRST + 1)));
        }
        for (var place = 0; place < data.byteSize() - 1; place++) {
            data.set(JAVA_BYTE, place, (byte) text.charAt(place));
        }
    }

    private static ConnectionOptions<AsyncQueuePair> options(CompletionDispatcher completions) {
        return ConnectionOptions.of(reliable(completions).sends(4).receives(4));
    }

    /** Messages name memory by its address, its key and its length. */
    private static final class Buffers implements AutoCloseable {

        private final MemoryRegion source;
        private final MemoryRegion data;
        private final MemoryRegion sent;
        private final MemoryRegion received;

        Buffers(ProtectionDomain domain, int size) throws IOException {
            var memory = domain.newArena(LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE);
            source = memory.region(size);
            data = memory.region(size);
            sent = memory.region(MESSAGE_BYTES);
            received = memory.region(MESSAGE_BYTES);
        }

        void name(MemoryRegion region) {
            sent.segment().set(BIG_LONG, 0, region.remote().address());
            sent.segment().set(BIG_INT, 8, region.remote().key());
            sent.segment().set(BIG_INT, 12, (int) region.remote().length());
        }

        RemoteMemory named() {
            return new RemoteMemory(
                    received.segment().get(BIG_LONG, 0),
                    received.segment().get(BIG_INT, 8),
                    Integer.toUnsignedLong(received.segment().get(BIG_INT, 12)));
        }

        @Override
        public void close() {
            source.close();
            data.close();
            sent.close();
            received.close();
        }
    }

    private Rping(String... arguments) {
        for (var rest = List.of(arguments).iterator(); rest.hasNext(); ) {
            var argument = rest.next();
            if (!argument.matches("-[a-zA-Z].*")) {
                throw new IllegalArgumentException(argument + " is too much.\n\n" + USAGE);
            }
            take(argument, rest);
        }
        if (serves == connects) {
            throw new IllegalArgumentException(
                    "It is either the server (-s) or the client (-c).\n\n" + USAGE);
        }
        if (address.isEmpty()) {
            if (connects) {
                throw new IllegalArgumentException("-c: connect to what -a?\n\n" + USAGE);
            }
            address = "0.0.0.0";
        }
        if (size < 32) {
            throw new IllegalArgumentException("-S: a ping has 32 bytes at least.\n\n" + USAGE);
        }
    }

    /** Letters may stand together, and a value behind its letter, as in -vVC3. */
    private void take(String argument, Iterator<String> rest) {
        for (var place = 1; place < argument.length(); place++) {
            var letter = argument.charAt(place);
            switch (letter) {
                case 's' -> serves = true;
                case 'c' -> connects = true;
                case 'P' -> persists = true;
                case 'v' -> shows = true;
                case 'V' -> compares = true;
                case 'd' -> System.setProperty("org.slf4j.simpleLogger.log.org.jrdma", "debug");
                case 'q' -> {
                    // as ever
                }
                case 'a', 'I', 'p', 'C', 'S', 'f' -> {
                    var value = argument.substring(place + 1);
                    if (value.isEmpty() && !rest.hasNext()) {
                        throw new IllegalArgumentException(
                                "-%c misses its value.%n%n%s".formatted(letter, USAGE));
                    }
                    take(letter, value.isEmpty() ? rest.next() : value);
                    return;
                }
                default ->
                        throw new IllegalArgumentException(
                                "-%c is too much.%n%n%s".formatted(letter, USAGE));
            }
        }
    }

    private void take(char letter, String value) {
        switch (letter) {
            case 'a' -> address = value;
            case 'I' -> source = value;
            case 'f' -> fabric = value;
            case 'p' -> port = number(value);
            case 'C' -> count = number(value) == 0 ? Integer.MAX_VALUE : number(value);
            default -> size = number(value);
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
