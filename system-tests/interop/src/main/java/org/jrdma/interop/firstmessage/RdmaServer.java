package org.jrdma.interop.firstmessage;

import static java.time.Duration.ofSeconds;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.interop.AbstractRdmaCoreToolProgram;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.model.AddressQuery;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Receives a message of 16 bytes from a client and answers it. Mirrors the C program {@code
 * rdma_server}; the client can be the C program {@code rdma_client}.
 */
@Command(
        name = "rdma-server",
        description = "Accepts a connection and answers a message, as rdma_server")
public final class RdmaServer extends AbstractRdmaCoreToolProgram {

    private static final int BYTES = 16;
    private static final Duration STEP_TIMEOUT = ofSeconds(30);

    @Option(
            names = "-s",
            paramLabel = "ADDRESS",
            description = "the RDMA device to listen at (default: all)")
    private String address = "";

    @Option(names = "-p", paramLabel = "PORT", description = "${DEFAULT-VALUE} by default")
    private String port = "7471";

    static void main(String... arguments) {
        new RdmaServer().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        var listenQuery =
                address.isEmpty() ? AddressQuery.at(port) : AddressQuery.at(address, port);
        var info = connectionManager().lookUp(listenQuery, STEP_TIMEOUT).getFirst();
        try (var listener = connectionManager().listen(info, 1)) {
            IO.println("waiting at " + describe(listener.localAddress()));
            try (var request = listener.next(FOREVER);
                    var device = verbs().open(request.deviceName());
                    var domain = device.newProtectionDomain();
                    var memory = domain.newArena(LOCAL_WRITE);
                    var completions = device.newCompletionDispatcher(4)) {
                var message = memory.region(BYTES);
                var answer = memory.region(BYTES);
                answer.segment().setString(0, "Dankon");
                // The receive is posted before the connection is accepted, because the client sends
                // as soon as it is connected.
                var received = new AtomicReference<Transfer>();
                var kind =
                        ConnectionOptions.of(reliable(completions).sends(1).receives(1))
                                .prepared(queuePair ->
                                        received.set(queuePair.receive(message.slice())));
                try (var connection = request.accept(domain, kind, STEP_TIMEOUT)) {
                    var bytes = received.get().await(STEP_TIMEOUT).bytes();
                    IO.println(
                            "received %d bytes: \"%s\""
                                    .formatted(bytes, message.segment().getString(0)));
                    connection.queuePair().send(answer.slice()).await(STEP_TIMEOUT);
                    connection.disconnect(STEP_TIMEOUT);
                }
            }
        }
    }
}
