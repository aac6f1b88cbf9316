package org.jrdma.examples.sisci;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.List;
import org.jrdma.sisci.InterruptOptions;
import org.jrdma.sisci.Node;

/** Wakes another node: by an interrupt, and by one that carries a text. */
public final class TriggerInterrupt {

    private static final String USAGE =
            """
            usage: remote-interrupt [options]         waits for interrupts
                   remote-interrupt [options] NODE    triggers those of that node
            """
                    + SisciOptions.USAGE;

    private static final int PLAIN = 41;
    private static final int WITH_DATA = 42;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            var options = SisciOptions.parse(arguments);
            try (var node = options.openNode()) {
                if (options.waits()) {
                    await(node);
                } else {
                    trigger(node, options.peer(), options.count());
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private static void await(Node node) throws IOException {
        // Without asCounting, triggers that come close may become one.
        try (var interrupt = node.newInterrupt(InterruptOptions.number(PLAIN).asCounting());
                var texts = node.newDataInterrupt(InterruptOptions.number(WITH_DATA))) {
            SisciOptions.sayWhereItWaits(node);
            var text = new String(texts.receive(SisciOptions.PATIENCE), UTF_8);
            IO.println("received \"%s\"".formatted(text));
            var count = Integer.parseInt(text.replaceAll("\\D", ""));
            for (var i = 0; i < count; i++) {
                interrupt.await(SisciOptions.PATIENCE);
            }
            IO.println("was interrupted %d times".formatted(count));
        }
    }

    private static void trigger(Node node, int peer, int count) throws IOException {
        try (var texts =
                        node.connectDataInterrupt(
                                peer, WITH_DATA, SisciOptions.patience("node " + peer));
                var interrupt = node.connectInterrupt(peer, PLAIN, SisciOptions.PATIENCE)) {
            texts.trigger("%d interrupts follow".formatted(count).getBytes(UTF_8));
            for (var i = 0; i < count; i++) {
                interrupt.trigger();
            }
            IO.println("triggered %d times".formatted(count));
        }
    }
}
