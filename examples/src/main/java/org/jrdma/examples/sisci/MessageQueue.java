package org.jrdma.examples.sisci;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;
import org.jrdma.sisci.MessageReceiver;
import org.jrdma.sisci.MessageSender;
import org.jrdma.sisci.Node;

/** Messages from node to node through a ring in shared memory, in order, and none lost. */
public final class MessageQueue {

    private static final String USAGE =
            """
            usage: message-queue [options]         receives messages, until the sender closes
                   message-queue [options] NODE    sends messages to that node
            """
                    + SisciOptions.USAGE;

    private static final int SEGMENT = 4006;
    private static final int CAPACITY = 64 << 10;
    private static final int BYTES = 64;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            var options = SisciOptions.parse(arguments);
            try (var node = options.openNode()) {
                if (options.waits()) {
                    receive(node);
                } else {
                    send(node, options.peer(), options.count());
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private static void receive(Node node) throws IOException {
        try (var receiver = MessageReceiver.open(node, SEGMENT, CAPACITY)) {
            SisciOptions.sayWhereItWaits(node);
            var received = 0L;
            for (var message = receiver.receive(SisciOptions.PATIENCE);
                    message.length > 0; // an empty one is the last
                    message = receiver.receive(SisciOptions.PATIENCE)) {
                if (message[0] != (byte) received) {
                    throw new IOException("Message %d is another.".formatted(received));
                }
                received++;
            }
            IO.println("received %d messages".formatted(received));
        }
    }

    private static void send(Node node, int peer, int count) throws IOException {
        try (var arena = Arena.ofConfined();
                var sender =
                        MessageSender.connect(
                                node, peer, SEGMENT, SisciOptions.patience("node " + peer))) {
            var message = arena.allocate(BYTES);
            var start = System.nanoTime();
            for (var i = 0; i < count; i++) {
                message.set(ValueLayout.JAVA_BYTE, 0, (byte) i);
                sender.send(message, SisciOptions.PATIENCE);
            }
            var nanos = System.nanoTime() - start;
            sender.send(message.asSlice(0, 0), SisciOptions.PATIENCE);
            IO.println(
                    String.format(
                            Locale.ROOT,
                            "sent %d messages, %.2f us each",
                            count,
                            nanos / 1e3 / count));
        }
    }
}
