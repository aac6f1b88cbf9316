package org.jrdma.examples.writenotify;

import static org.jrdma.verbs.QueuePairOptions.reliable;

import module java.base;
import module org.jrdma.verbs;

import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Clients write into a server's memory and notify the server, by immediate data with the write (not
 * on iWARP) or by a message after it. Run {@code ./jrdma example write-notify}, and then {@code
 * ./jrdma example write-notify ADDRESS} with the address that the server prints.
 */
@Command(name = "write-notify", description = "Clients write into a server's memory and notify it")
public final class WriteNotify extends AbstractExample {

    private static final int TEXT = 64; // bytes of a text; the next byte is for messages

    @Option(names = "-p", paramLabel = "PORT", description = "port (default: ${DEFAULT-VALUE})")
    private int port = 7175;

    @Option(names = "-n", paramLabel = "COUNT", description = "clients to serve, texts to write")
    private int count;

    @Option(names = "-m", description = "notify by messages only, for iWARP")
    private boolean messagesOnly;

    @Parameters(arity = "0..1", paramLabel = "ADDRESS", description = "address of the server")
    private String server = "";

    static void main(String... arguments) {
        new WriteNotify().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        if (!server.isEmpty()) {
            write(new InetSocketAddress(server, port));
            return;
        }
        try (var listener = connectionManager().listen(new InetSocketAddress(port));
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            listener.localAddresses().forEach(at -> IO.println("waiting at " + at.getHostString()));
            for (var number = 1; number <= Math.max(1, count); number++) {
                var name = "client " + number;
                var request = listener.next(FOREVER);
                threads.execute(() -> IO.println(name + serve(name, request)));
            }
        }
    }

    private String serve(String client, ConnectionRequest request) {
        var received = new AtomicReference<Transfer>();
        try (request;
                var device = verbs().open(request.deviceName());
                var domain = device.newProtectionDomain();
                var memory =
                        domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE).region(TEXT + 1);
                var poller = device.newCompletionDispatcher(16)) {
            var options =
                    ConnectionOptions.of(reliable(poller))
                            .privateData(memory.remote().toBytes()) // The target of the writes.
                            // Posted before the accept, because the client may write immediately.
                            .prepared(qp -> received.set(qp.receive(memory.slice(TEXT, 1))));
            try (var connection = request.accept(domain, options, TIMEOUT)) {
                var notification = received.get().awaitCompletion(TIMEOUT);
                while (notification.isSuccess()) {
                    var bytes = memory.segment().asByteBuffer().limit(TEXT);
                    var text = StandardCharsets.US_ASCII.decode(bytes).toString().trim();
                    var way = notification.immediate().isPresent() ? "immediate data" : "a message";
                    IO.println("%s wrote \"%s\", notified by %s".formatted(client, text, way));
                    received.set(connection.queuePair().receive(memory.slice(TEXT, 1)));
                    connection.queuePair().send(memory.slice(TEXT, 1)).await(TIMEOUT);
                    notification = received.get().awaitCompletion(TIMEOUT);
                }
                return " has left"; // The disconnect has flushed the receive.
            }
        } catch (IOException e) {
            return ": " + e.getMessage();
        }
    }

    private void write(InetSocketAddress address) throws IOException {
        try (var route = connectionManager().resolve(address, TIMEOUT);
                var device = verbs().open(route.deviceName());
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(Access.LOCAL_WRITE).region(TEXT + 1);
                var poller = device.newCompletionDispatcher(16);
                var connection =
                        route.connect(domain, ConnectionOptions.of(reliable(poller)), TIMEOUT)) {
            var encoded = Arrays.copyOf(connection.privateData().bytes(), RemoteMemory.BYTES);
            var remote = RemoteMemory.from(ByteBuffer.wrap(encoded));
            if (remote.length() != memory.length()) {
                throw new IOException(
                        "The server at that address is not write-notify: it sent no memory.");
            }
            var texts = count == 0 ? 3 : count;
            var queuePair = connection.queuePair();
            for (var number = 1; number <= texts; number++) {
                for (var immediate : messagesOnly ? List.of(false) : List.of(true, false)) {
                    var text = (immediate ? "Saluton " : "Saluton, mondo ") + number;
                    memory.segment().setString(0, "%-64s".formatted(text));
                    var answer = queuePair.receive(memory.slice(TEXT, 1));
                    if (immediate) {
                        queuePair.writeWithImmediate(memory.slice(0, TEXT), remote, number);
                    } else {
                        queuePair.write(memory.slice(0, TEXT), remote);
                        queuePair.send(memory.slice(TEXT, 1)); // Arrives after the write.
                    }
                    answer.await(TIMEOUT); // The server has read the text.
                }
            }
            IO.println("the server has seen %d texts".formatted(messagesOnly ? texts : 2 * texts));
        }
    }
}
