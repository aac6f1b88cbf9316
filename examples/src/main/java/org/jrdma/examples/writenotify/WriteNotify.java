package org.jrdma.examples.writenotify;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.MemorySlice;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.cm.model.PrivateData;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * Clients put data into a server's memory, and tell it when the data is there. A write alone tells
 * the server nothing. There are two ways:
 *
 * <ul>
 *   <li>a write with immediate data, which takes up a receive of the server's: its completion comes
 *       when all of the data is in its memory, and carries 32 bits, here how long the data is. Not
 *       on iWARP;
 *   <li>a write, and a message after it: what comes after a write finds it done.
 * </ul>
 *
 * <p>The server answers when it has looked at the data, and not before may the client write again.
 * Each client has a piece of memory of its own, which the server names when it accepts.
 */
public final class WriteNotify {

    private static final String USAGE =
            """
            usage: write-notify -s [options]               shows what clients write into its memory
                   write-notify -c -a ADDRESS [options]    writes into the memory of the server at ADDRESS

              -a ADDRESS  of an RDMA device: to listen at (all there are), or to connect to
              -p PORT     (7175)
              -n COUNT    how many clients to serve (1), or how many texts to write in each way (3)
              -f FABRIC   system, or software: RDMA in Java, for a machine without a device
              -m          tells by messages only, for iWARP

            The server waits for clients for ever, and each side for the next word of the other's for 30 s.\
            """;

    private static final Duration FOR_EVER = ChronoUnit.FOREVER.getDuration();
    private static final Duration PATIENCE = ofSeconds(30);
    private static final int BYTES = 4096;
    private static final int NOTICE_BYTES = Integer.BYTES;
    private static final ValueLayout.OfInt LENGTH =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);

    private boolean serves;
    private boolean connects;
    private String address = "";
    private int port = 7175;
    private int count;
    private String fabric = "";
    private boolean byMessagesOnly;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            new WriteNotify(arguments).run();
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
            write(chosen.connections(), chosen.verbs());
        }
    }

    private void serve(Fabric.WithConnections fabric) throws IOException {
        var here = new InetSocketAddress(address, port);
        try (var listener = fabric.connections().listen(here);
                var clients = Executors.newVirtualThreadPerTaskExecutor()) {
            IO.println("waiting at " + fabric.place(listener.localAddress()));
            for (var number = 1; number <= count; number++) {
                var request = listener.next(FOR_EVER);
                var name = "client " + number;
                clients.execute(() -> {
                    try {
                        serve(name, request, fabric.verbs());
                        IO.println(name + " has left");
                    } catch (IOException e) {
                        IO.println(name + ": " + e.getMessage());
                    }
                });
            }
        }
    }

    private static void serve(String client, ConnectionRequest request, Verbs verbs)
            throws IOException {
        try (request;
                var device = verbs.open(request.deviceName());
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE).region(BYTES);
                var messages = domain.newArena(LOCAL_WRITE).region(2 * NOTICE_BYTES);
                var completions = device.newCompletionDispatcher(16)) {
            // The client may write as soon as it knows that it is connected.
            var notice = new AtomicReference<Transfer>();
            var options =
                    options(completions)
                            .privateData(memory.remote().toBytes())
                            .prepared(
                                    queuePair -> notice.set(queuePair.receive(received(messages))));
            try (var connection = request.accept(domain, options, PATIENCE)) {
                var queuePair = connection.queuePair();
                while (true) {
                    var came = notice.get().awaitCompletion(PATIENCE);
                    if (!came.isSuccess()) {
                        return; // flushed: the client has left
                    }
                    var told = came.immediate();
                    var length =
                            told.isPresent() ? told.getAsInt() : messages.segment().get(LENGTH, 0);
                    IO.println(
                            "%s wrote \"%s\", and told by %s"
                                    .formatted(
                                            client,
                                            text(memory, length),
                                            told.isPresent() ? "immediate data" : "a message"));
                    notice.set(queuePair.receive(received(messages))); // before it may write again
                    queuePair.send(sent(messages)).await(PATIENCE);
                }
            }
        }
    }

    /** What a client wrote, as far as it says; neither may be taken on trust. */
    private static String text(MemoryRegion memory, int length) throws IOException {
        if (length < 0 || length > BYTES) {
            throw new IOException(
                    String.format(Locale.ROOT, "it told of %,d bytes, of %,d", length, BYTES));
        }
        var bytes = memory.segment().asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.UTF_8).replace("\0", "");
    }

    private void write(ConnectionManager connections, Verbs verbs) throws IOException {
        try (var route = connections.resolve(new InetSocketAddress(address, port), PATIENCE);
                var device = verbs.open(route.deviceName());
                var domain = device.newProtectionDomain();
                var texts = domain.newArena(LOCAL_WRITE).region(BYTES);
                var messages = domain.newArena(LOCAL_WRITE).region(2 * NOTICE_BYTES);
                var completions = device.newCompletionDispatcher(16);
                var connection = route.connect(domain, options(completions), PATIENCE)) {
            var queuePair = connection.queuePair();
            var remote = memoryNamedBy(connection.privateData());
            for (var number = 1; number <= count; number++) {
                if (!byMessagesOnly) {
                    writeWithImmediate(queuePair, texts, messages, remote, "Saluton " + number);
                }
                writeAndSend(queuePair, texts, messages, remote, "Saluton, mondo " + number);
            }
            connection.disconnect(PATIENCE);
        }
        IO.println("the server has seen %d texts".formatted(byMessagesOnly ? count : 2 * count));
    }

    /** What the server said as it accepted; it may be another program. */
    private static RemoteMemory memoryNamedBy(PrivateData said) throws IOException {
        if (said.bytes().length >= RemoteMemory.BYTES) {
            var memory = RemoteMemory.from(ByteBuffer.wrap(said.bytes()));
            if (memory.length() == BYTES) {
                return memory;
            }
        }
        throw new IOException("What listens there is no write-notify: it names no memory.");
    }

    private static void writeWithImmediate(
            AsyncQueuePair queuePair,
            MemoryRegion texts,
            MemoryRegion messages,
            RemoteMemory remote,
            String text)
            throws IOException {
        var seen = queuePair.receive(received(messages));
        texts.segment().setString(0, text);
        var length = text.length() + 1;
        queuePair.writeWithImmediate(texts.slice(0, length), remote, length).await(PATIENCE);
        seen.await(PATIENCE);
    }

    private static void writeAndSend(
            AsyncQueuePair queuePair,
            MemoryRegion texts,
            MemoryRegion messages,
            RemoteMemory remote,
            String text)
            throws IOException {
        var seen = queuePair.receive(received(messages));
        texts.segment().setString(0, text);
        var length = text.length() + 1;
        var written = queuePair.write(texts.slice(0, length), remote);
        messages.segment().set(LENGTH, NOTICE_BYTES, length);
        queuePair.send(sent(messages)).await(PATIENCE); // need not wait for the write
        written.await(PATIENCE);
        seen.await(PATIENCE);
    }

    private static MemorySlice received(MemoryRegion messages) {
        return messages.slice(0, NOTICE_BYTES);
    }

    private static MemorySlice sent(MemoryRegion messages) {
        return messages.slice(NOTICE_BYTES, NOTICE_BYTES);
    }

    private static ConnectionOptions<AsyncQueuePair> options(CompletionDispatcher completions) {
        return ConnectionOptions.of(reliable(completions).sends(4).receives(4));
    }

    private WriteNotify(String... arguments) {
        for (var rest = List.of(arguments).iterator(); rest.hasNext(); ) {
            var argument = rest.next();
            switch (argument) {
                case "-s" -> serves = true;
                case "-c" -> connects = true;
                case "-m" -> byMessagesOnly = true;
                case "-a", "-p", "-n", "-f" -> {
                    if (!rest.hasNext()) {
                        throw new IllegalArgumentException(
                                argument + " misses its value.\n\n" + USAGE);
                    }
                    var value = rest.next();
                    switch (argument) {
                        case "-a" -> address = value;
                        case "-f" -> fabric = value;
                        case "-p" -> port = number(value);
                        default -> count = number(value);
                    }
                }
                default ->
                        throw new IllegalArgumentException(argument + " is too much.\n\n" + USAGE);
            }
        }
        if (serves == connects) {
            throw new IllegalArgumentException(
                    "It is either the server (-s) or a client (-c).\n\n" + USAGE);
        }
        if (address.isEmpty()) {
            if (connects) {
                throw new IllegalArgumentException("-c: connect to what -a?\n\n" + USAGE);
            }
            address = "0.0.0.0";
        }
        if (count == 0) {
            count = serves ? 1 : 3;
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
