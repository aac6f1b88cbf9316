package org.jrdma.examples.firstmessage;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.model.AddressQuery;

/**
 * Waits for a client, takes its message of 16 bytes and answers with another, as the C program
 * {@code rdma_server} does; the client can be the C program {@code rdma_client}.
 */
public final class RdmaServer {

    private static final String USAGE =
            """
            usage: rdma-server [options]
              -s ADDRESS  of an RDMA device: where to listen (all there are)
              -p PORT     (7471)
              -f FABRIC   system, or software: RDMA in Java, for a machine without a device

            It waits for a client for ever, and for its message for 30 s.\
            """;

    private static final int BYTES = 16;
    private static final Duration FOR_EVER = ChronoUnit.FOREVER.getDuration();
    private static final Duration PATIENCE = ofSeconds(30);

    private RdmaServer() {}

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            run(new MessageOptions(USAGE, arguments));
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private static void run(MessageOptions options) throws IOException {
        var fabric = Fabric.chooseWithConnections(options.fabric());
        var here =
                options.address().isEmpty()
                        ? AddressQuery.at(options.port())
                        : AddressQuery.at(options.address(), options.port());
        var info = fabric.connections().lookUp(here, PATIENCE).getFirst();
        try (var listener = fabric.connections().listen(info, 1)) {
            IO.println("waiting at " + fabric.place(listener.localAddress()));
            try (var request = listener.next(FOR_EVER);
                    var device = fabric.verbs().open(request.deviceName());
                    var domain = device.newProtectionDomain();
                    var memory = domain.newArena(LOCAL_WRITE);
                    var completions = device.newCompletionDispatcher(4)) {
                var message = memory.region(BYTES);
                var answer = memory.region(BYTES);
                answer.segment().setString(0, "Dankon");
                // The client sends as soon as it is connected: the receive must be there before.
                var received = new AtomicReference<Transfer>();
                var kind =
                        ConnectionOptions.of(reliable(completions).sends(1).receives(1))
                                .prepared(queuePair ->
                                        received.set(queuePair.receive(message.slice())));
                try (var connection = request.accept(domain, kind, PATIENCE)) {
                    var bytes = received.get().await(PATIENCE).bytes();
                    IO.println(
                            "received %d bytes: \"%s\""
                                    .formatted(bytes, message.segment().getString(0)));
                    connection.queuePair().send(answer.slice()).await(PATIENCE);
                    connection.disconnect(PATIENCE);
                }
            }
        }
    }
}
