package org.jrdma.interop.firstmessage;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.time.Duration;
import org.jrdma.interop.AbstractRdmaCoreToolProgram;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.model.AddressQuery;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Sends a message of 16 bytes to a server and receives the answer. Mirrors the C program {@code
 * rdma_client}; the server can be the C program {@code rdma_server}.
 */
@Command(
        name = "rdma-client",
        description = "Connects by address and sends a message, as rdma_client")
public final class RdmaClient extends AbstractRdmaCoreToolProgram {

    private static final int BYTES = 16;
    private static final Duration STEP_TIMEOUT = ofSeconds(30);

    @Option(
            names = "-s",
            required = true,
            paramLabel = "ADDRESS",
            description = "the server's RDMA device")
    private String address;

    @Option(names = "-p", paramLabel = "PORT", description = "${DEFAULT-VALUE} by default")
    private String port = "7471";

    static void main(String... arguments) {
        new RdmaClient().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        var server = AddressQuery.to(address, port);
        var info = connectionManager().lookUp(server, STEP_TIMEOUT).getFirst();
        try (var route = connectionManager().resolve(info, STEP_TIMEOUT);
                var device = verbs().open(route.deviceName());
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE);
                var completions = device.newCompletionDispatcher(4);
                var connection =
                        route.connect(
                                domain,
                                ConnectionOptions.of(reliable(completions).sends(1).receives(1)),
                                STEP_TIMEOUT)) {
            var message = memory.region(BYTES);
            var answer = memory.region(BYTES);
            message.segment().setString(0, "Saluton, mondo");
            var received = connection.queuePair().receive(answer.slice());
            connection.queuePair().send(message.slice()).await(STEP_TIMEOUT);
            var bytes = received.await(STEP_TIMEOUT).bytes();
            IO.println("received %d bytes: \"%s\"".formatted(bytes, answer.segment().getString(0)));
            connection.disconnect(STEP_TIMEOUT);
        }
    }
}
