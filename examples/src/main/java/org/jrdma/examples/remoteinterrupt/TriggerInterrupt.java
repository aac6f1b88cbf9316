package org.jrdma.examples.remoteinterrupt;

import static java.nio.charset.StandardCharsets.UTF_8;

import module org.jrdma.sisci;

import java.io.IOException;
import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Wakes up another node by interrupts: one kind carries no data, the other carries a text.
 *
 * <pre>
 * ./jrdma example remote-interrupt         # prints the id of its node
 * ./jrdma example remote-interrupt 4       # on another node: triggers the interrupts of node 4
 * </pre>
 */
@Command(
        name = "remote-interrupt",
        description = "One node interrupts another one, and sends a text (SISCI)")
public final class TriggerInterrupt extends AbstractExample {

    private static final int PLAIN = 41;
    private static final int WITH_DATA = 42;

    @Option(names = "-n", paramLabel = "COUNT", description = "triggers (${DEFAULT-VALUE})")
    private int count = 1000;

    @Parameters(arity = "0..1", paramLabel = "NODE", description = "the node to interrupt")
    private Integer peer;

    static void main(String... arguments) {
        new TriggerInterrupt().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        try (var node = sisci().open()) {
            if (peer == null) {
                await(node);
            } else {
                trigger(node);
            }
        }
    }

    private static void await(Node node) throws IOException {
        // Without asCounting, triggers in quick succession may be delivered as one interrupt.
        try (var interrupt = node.newInterrupt(InterruptOptions.number(PLAIN).asCounting());
                var texts = node.newDataInterrupt(InterruptOptions.number(WITH_DATA))) {
            IO.println("waiting on node %d, until %s".formatted(node.id(), deadline()));
            var text = new String(texts.receive(TIMEOUT), UTF_8);
            IO.println("received \"%s\"".formatted(text));
            var count = Integer.parseInt(text.replaceAll("\\D", ""));
            for (var i = 0; i < count; i++) {
                interrupt.await(TIMEOUT);
            }
            IO.println("was interrupted %d times".formatted(count));
        }
    }

    private void trigger(Node node) throws IOException {
        IO.println("connecting to node %d, until %s".formatted(peer, deadline()));
        try (var texts = node.connectDataInterrupt(peer, WITH_DATA, TIMEOUT);
                var interrupt = node.connectInterrupt(peer, PLAIN, TIMEOUT)) {
            texts.trigger("%d interrupts follow".formatted(count).getBytes(UTF_8));
            for (var i = 0; i < count; i++) {
                interrupt.trigger();
            }
            IO.println("triggered %d times".formatted(count));
        }
    }
}
