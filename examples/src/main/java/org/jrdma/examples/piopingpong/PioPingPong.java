package org.jrdma.examples.piopingpong;

import module org.jrdma.sisci;

import java.io.IOException;
import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The latency of programmed I/O: two nodes alternately store a number into each other's memory, and
 * poll their own memory. The stores need no system call.
 *
 * <pre>
 * ./jrdma example pio-ping-pong         # prints the id of its node
 * ./jrdma example pio-ping-pong 4       # on another node: exchanges numbers with node 4
 * </pre>
 */
@Command(
        name = "pio-ping-pong",
        description = "Measures stores into the memory of another node (SISCI)")
public final class PioPingPong extends AbstractExample {

    private static final int FIRST_SEGMENT = 4002;
    private static final int SECOND_SEGMENT = 4003;
    private static final int BYTES = 4096;

    // The layout of each segment. The number is in a separate cache line.
    private static final int NUMBER = 0;
    private static final int CLIENT = 64;
    private static final int ROUNDS = 72;

    @Option(names = "-n", paramLabel = "COUNT", description = "rounds (default: ${DEFAULT-VALUE})")
    private int rounds = 1000;

    @Parameters(arity = "0..1", paramLabel = "NODE", description = "the node that waits")
    private Integer peer;

    static void main(String... arguments) {
        new PioPingPong().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        try (var node = sisci().open()) {
            if (peer == null) {
                answer(node);
            } else {
                measure(node);
            }
        }
    }

    private static void answer(Node node) throws IOException {
        try (var segment = node.newSegment(FIRST_SEGMENT, BYTES);
                var own = segment.map()) {
            segment.offer();
            IO.println("waiting on node %d, until %s".formatted(node.id(), deadline()));
            spinUntil(() -> own.getLongAcquire(CLIENT) != 0);
            var client = (int) own.getLong(CLIENT);
            try (var remote = node.connect(client, SECOND_SEGMENT, TIMEOUT);
                    var remoteMap = remote.map()) {
                var rounds = own.getLong(ROUNDS);
                for (var round = 1L; round <= rounds; round++) {
                    await(own, round);
                    send(remoteMap, round);
                }
                IO.println("sent back %d times".formatted(rounds));
            }
        }
    }

    private void measure(Node node) throws IOException {
        IO.println("connecting to node %d, until %s".formatted(peer, deadline()));
        try (var segment = node.newSegment(SECOND_SEGMENT, BYTES);
                var own = segment.map()) {
            segment.offer();
            try (var remote = node.connect(peer, FIRST_SEGMENT, TIMEOUT);
                    var remoteMap = remote.map()) {
                remoteMap.putLong(ROUNDS, rounds);
                remoteMap.putLongRelease(CLIENT, node.id());
                remoteMap.flush();
                var start = System.nanoTime();
                for (var round = 1L; round <= rounds; round++) {
                    send(remoteMap, round);
                    await(own, round);
                }
                var micros = (System.nanoTime() - start) / 1e3;
                IO.println("%d rounds, %.2f us each".formatted(rounds, micros / rounds));
            }
        }
    }

    private static void send(RemoteMap remoteMap, long number) {
        remoteMap.putLong(NUMBER, number);
        remoteMap.flush(); // Otherwise, the processor may delay the store.
    }

    private static void await(LocalMap own, long number) throws IOException {
        spinUntil(() -> own.getLongAcquire(NUMBER) == number);
    }
}
