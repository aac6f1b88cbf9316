package org.jrdma.examples.firstmessage;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.model.AddressQuery;

/**
 * Sends a message of 16 bytes to a server and takes its answer, as the C program {@code
 * rdma_client} does; the server can be the C program {@code rdma_server}.
 */
public final class RdmaClient {

    private static final String USAGE =
            """
            usage: rdma-client -s ADDRESS [options]
              -s ADDRESS  of the server's RDMA device
              -p PORT     (7471)
              -f FABRIC   system, or software: RDMA in Java, for a machine without a device\
            """;

    private static final int BYTES = 16;
    private static final Duration PATIENCE = ofSeconds(30);

    private RdmaClient() {}

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
        if (options.address().isEmpty()) {
            throw new IllegalArgumentException("-s is missing.\n\n" + USAGE);
        }
        var fabric = Fabric.chooseWithConnections(options.fabric());
        var there = AddressQuery.to(options.address(), options.port());
        var info = fabric.connections().lookUp(there, PATIENCE).getFirst();
        try (var route = fabric.connections().resolve(info, PATIENCE);
                var device = fabric.verbs().open(route.deviceName());
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE);
                var completions = device.newCompletionDispatcher(4);
                var connection =
                        route.connect(
                                domain,
                                ConnectionOptions.of(reliable(completions).sends(1).receives(1)),
                                PATIENCE)) {
            var message = memory.region(BYTES);
            var answer = memory.region(BYTES);
            message.segment().setString(0, "Saluton, mondo");
            var received = connection.queuePair().receive(answer.slice());
            connection.queuePair().send(message.slice()).await(PATIENCE);
            var bytes = received.await(PATIENCE).bytes();
            IO.println("received %d bytes: \"%s\"".formatted(bytes, answer.segment().getString(0)));
            connection.disconnect(PATIENCE);
        }
    }
}
