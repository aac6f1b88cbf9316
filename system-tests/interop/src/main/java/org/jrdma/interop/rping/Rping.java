package org.jrdma.interop.rping;

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
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.AddressText;
import org.jrdma.interop.AbstractRdmaCoreToolProgram;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.cm.Route;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.RemoteMemory;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Pings over a connection by address and port, like the C program {@code rping}. Either side can be
 * the C program. The client sends the address of its source buffer, from which the server reads,
 * and then the address of its target buffer, into which the server writes. Between these steps,
 * each side waits for a message from the other side.
 */
@Command(name = "rping", description = "Pings over a connection by address and port, as rping")
public final class Rping extends AbstractRdmaCoreToolProgram {

    private static final Duration STEP_TIMEOUT = ofSeconds(30);
    private static final int MESSAGE_BYTES = 16;
    private static final ValueLayout.OfLong BIG_LONG =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt BIG_INT =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int FIRST = 'A';
    private static final int LAST = 'z';

    @ArgGroup(multiplicity = "1")
    private Role role;

    private static final class Role {
        @Option(names = "-s", description = "run the server")
        boolean server;

        @Option(names = "-c", description = "run the client")
        boolean client;
    }

    @Option(
            names = "-a",
            paramLabel = "ADDRESS",
            description = "the server's address (with -s, default: any)")
    private String address = "";

    @Option(
            names = "-I",
            paramLabel = "ADDRESS",
            description = "the address of the device that the client connects from")
    private String source = "";

    @Option(names = "-p", paramLabel = "PORT", description = "the server's port (${DEFAULT-VALUE})")
    private int port = 7174;

    @Option(names = "-P", description = "serve any number of clients, until killed")
    private boolean persists;

    @Option(
            names = "-C",
            paramLabel = "COUNT",
            description = "number of pings of the client (0: no limit)")
    private int count;

    @Option(
            names = "-S",
            paramLabel = "BYTES",
            description = "size of the data in bytes, on both sides (${DEFAULT-VALUE})")
    private int size = 64;

    @Option(names = "-v", description = "print the pings")
    private boolean shows;

    @Option(names = "-V", description = "compare the data that comes back with the data sent")
    private boolean compares;

    @Option(names = "-d", description = "print debug messages of the SDK")
    private boolean debugs;

    @Option(
            names = "-q",
            description = "ignored, because the program always creates its own queue pair")
    boolean ownQueuePair;

    static void main(String... arguments) {
        new Rping().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        checkRange("-S", size, 32, Integer.MAX_VALUE);
        if (role.client && address.isEmpty()) {
            throw usageError("-c requires the address of the server. Add -a ADDRESS.");
        }
        if (debugs) { // The property must be set before the first logger is created.
            System.setProperty("org.slf4j.simpleLogger.log.org.jrdma", "debug");
        }
        count = count == 0 ? Integer.MAX_VALUE : count;
        if (role.server) {
            serve();
        } else {
            ping();
        }
    }

    private void serve() throws IOException {
        var listenAddress = new InetSocketAddress(address.isEmpty() ? "0.0.0.0" : address, port);
        try (var listener = connectionManager().listen(listenAddress)) {
            IO.println("waiting at " + describe(listener.localAddress()));
            do {
                var request = listener.next(FOREVER);
                if (persists) {
                    Thread.ofVirtual().start(() -> serveOneOfMany(request));
                } else {
                    serve(request);
                }
            } while (persists);
        }
    }

    /**
     * Serves one of several clients. A failure is printed and does not affect the other clients.
     */
    private void serveOneOfMany(ConnectionRequest request) {
        try {
            IO.println("client " + AddressText.of(request.peerAddress()));
            serve(request);
            IO.println("client %s has left".formatted(AddressText.of(request.peerAddress())));
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(
                    "client %s: %s"
                            .formatted(AddressText.of(request.peerAddress()), e.getMessage()));
        }
    }

    private void serve(ConnectionRequest incoming) throws IOException {
        try (var request = incoming;
                var device = verbs().open(request.deviceName());
                var domain = device.newProtectionDomain();
                var buffers = new Buffers(domain, size);
                var completions = device.newCompletionDispatcher(16)) {
            // The client may send as soon as it is connected, so this receive is posted before.
            var next = new AtomicReference<Transfer>();
            var options =
                    options(completions)
                            .prepared(queuePair ->
                                    next.set(queuePair.receive(buffers.received.slice())));
            try (var connection = request.accept(domain, options, STEP_TIMEOUT)) {
                var queuePair = connection.queuePair();
                // The client ends the connection, because a disconnect would overtake its last
                // ping. The receive that follows the last ping is then flushed.
                while (next.get().awaitCompletion(STEP_TIMEOUT).isSuccess()) {
                    answer(queuePair, buffers, next);
                }
                connection.disconnect(STEP_TIMEOUT);
            }
        }
    }

    /** Reads from the client's source buffer and writes the data into its target buffer. */
    private void answer(AsyncQueuePair queuePair, Buffers buffers, AtomicReference<Transfer> next)
            throws IOException {
        var source = buffers.decode();
        if (source.length() > size) {
            throw new IOException(
                    "The pings of the client have %d bytes, but this server accepts at most %d. Start both sides with the same -S."
                            .formatted(source.length(), size));
        }
        queuePair.read(buffers.data.slice(0, source.length()), source).await(STEP_TIMEOUT);
        var text = text(buffers.data.segment().asSlice(0, source.length()));
        if (shows) {
            IO.println("server ping data: " + text.getString(0));
        }
        next.set(queuePair.receive(buffers.received.slice()));
        queuePair.send(buffers.sent.slice()).await(STEP_TIMEOUT);
        next.get().await(STEP_TIMEOUT);
        queuePair
                .write(buffers.data.slice(0, text.byteSize()), buffers.decode())
                .await(STEP_TIMEOUT);
        next.set(queuePair.receive(buffers.received.slice()));
        // Not awaited: if the acknowledgement of the last SEND is lost, the client may disconnect
        // before the SEND is repeated. The client's next message proves that the SEND has arrived.
        queuePair.send(buffers.sent.slice());
    }

    /**
     * Returns the text of a ping including its terminating 0. Fails if the client, which is not
     * trusted, has omitted the 0.
     */
    private static MemorySegment text(MemorySegment pinged) throws IOException {
        for (var length = 0L; length < pinged.byteSize(); length++) {
            if (pinged.get(JAVA_BYTE, length) == 0) {
                return pinged.asSlice(0, length + 1);
            }
        }
        throw new IOException("The ping of the client has no terminating 0.");
    }

    private void ping() throws IOException {
        try (var route = route();
                var device = verbs().open(route.deviceName());
                var domain = device.newProtectionDomain();
                var buffers = new Buffers(domain, size);
                var completions = device.newCompletionDispatcher(16);
                var connection = route.connect(domain, options(completions), STEP_TIMEOUT)) {
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
            connection.disconnect(STEP_TIMEOUT);
        }
    }

    private Route route() throws IOException {
        var server = new InetSocketAddress(address, port);
        if (source.isEmpty()) {
            return connectionManager().resolve(server, STEP_TIMEOUT);
        }
        var from = new InetSocketAddress(source, 0);
        return connectionManager()
                .resolve(
                        new AddressInfo(
                                QueuePairType.RELIABLE_CONNECTION,
                                PortSpace.TCP,
                                Optional.of(from),
                                Optional.of(server)),
                        STEP_TIMEOUT);
    }

    /**
     * Sends the address of memory to the server, and waits until the server has read or written
     * that memory.
     */
    private static void exchange(AsyncQueuePair queuePair, Buffers buffers, MemoryRegion memory)
            throws IOException {
        var goAhead = queuePair.receive(buffers.received.slice());
        buffers.encode(memory);
        queuePair.send(buffers.sent.slice()).await(STEP_TIMEOUT);
        goAhead.await(STEP_TIMEOUT);
    }

    /**
     * Fills all bytes except the last one, which remains 0, with a title and a sequence of
     * characters. In each ping, the sequence starts with another character.
     */
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

    /**
     * The memory of one side: the data, and the messages that contain an address, a key and a
     * length.
     */
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

        void encode(MemoryRegion region) {
            sent.segment().set(BIG_LONG, 0, region.remote().address());
            sent.segment().set(BIG_INT, 8, region.remote().key());
            sent.segment().set(BIG_INT, 12, (int) region.remote().length());
        }

        RemoteMemory decode() {
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
}
