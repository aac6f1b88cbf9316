package org.jrdma.examples.messagequeue;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import module org.jrdma.sisci;

import java.io.IOException;
import java.lang.foreign.Arena;
import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Messages from node to node through a ring buffer in shared memory: in order, without loss.
 *
 * <pre>
 * ./jrdma example message-queue         # prints the id of its node
 * ./jrdma example message-queue 4       # on another node: sends to node 4
 * </pre>
 */
@Command(name = "message-queue", description = "Messages through a ring in shared memory (SISCI)")
public final class MessageQueue extends AbstractExample {

    private static final int SEGMENT = 4006;
    private static final int CAPACITY = 64 << 10;
    private static final int BYTES = 64;

    @Option(names = "-n", paramLabel = "COUNT", description = "messages (${DEFAULT-VALUE})")
    private int count = 1000;

    @Parameters(arity = "0..1", paramLabel = "NODE", description = "the node to send to")
    private Integer peer;

    static void main(String... arguments) {
        new MessageQueue().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        try (var node = sisci().open()) {
            if (peer == null) {
                receive(node);
            } else {
                send(node);
            }
        }
    }

    private static void receive(Node node) throws IOException {
        try (var receiver = node.newMessageQueue(SEGMENT, CAPACITY)) {
            IO.println("waiting on node %d, until %s".formatted(node.id(), deadline()));
            var received = 0L;
            var message = receiver.receive(TIMEOUT);
            while (message.length > 0) { // The sender ends with an empty message.
                if (message[0] != (byte) received) {
                    throw new IOException("Message %d has wrong content.".formatted(received));
                }
                received++;
                message = receiver.receive(TIMEOUT);
            }
            IO.println("received %d messages".formatted(received));
        }
    }

    private void send(Node node) throws IOException {
        IO.println("connecting to node %d, until %s".formatted(peer, deadline()));
        try (var arena = Arena.ofConfined();
                var sender = node.connectMessageQueue(peer, SEGMENT, TIMEOUT)) {
            var message = arena.allocate(BYTES);
            var start = System.nanoTime();
            for (var i = 0; i < count; i++) {
                message.set(JAVA_BYTE, 0, (byte) i);
                sender.send(message, TIMEOUT);
            }
            var micros = (System.nanoTime() - start) / 1e3;
            sender.send(message.asSlice(0, 0), TIMEOUT);
            IO.println("sent %d messages, %.2f us each".formatted(count, micros / count));
        }
    }
}
