package org.jrdma.examples.sisci;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;

/**
 * A number to and fro by plain stores of the CPU: each side stores into the memory of the other,
 * and looks at its own. No system call, and nobody sleeps.
 */
public final class PioPingPong {

    private static final String USAGE =
            """
            usage: pio-ping-pong [options]         waits for the other side, and sends back what comes
                   pio-ping-pong [options] NODE    plays with that node
            """
                    + SisciOptions.USAGE;

    private static final int FIRST_SEGMENT = 4002;
    private static final int SECOND_SEGMENT = 4003;
    private static final int BYTES = 4096;

    // In each segment, in cache lines of their own.
    private static final int BALL = 0;
    private static final int WHO_PLAYS = 64;
    private static final int HOW_OFTEN = 72;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            var options = SisciOptions.parse(arguments);
            try (var node = options.openNode()) {
                if (options.waits()) {
                    answer(node);
                } else {
                    serve(node, options.peer(), options.count());
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private static void answer(Node node) throws IOException {
        try (var segment = node.newSegment(FIRST_SEGMENT, BYTES);
                var own = segment.map()) {
            segment.offer();
            SisciOptions.sayWhereItWaits(node);
            SisciOptions.spinUntil(() -> own.getLongAcquire(WHO_PLAYS) != 0);
            var peer = (int) own.getLong(WHO_PLAYS);
            try (var remote = node.connect(peer, SECOND_SEGMENT, SisciOptions.PATIENCE);
                    var theirs = remote.map()) {
                var rounds = own.getLong(HOW_OFTEN);
                for (var round = 1L; round <= rounds; round++) {
                    await(own, round);
                    send(theirs, round);
                }
                IO.println("sent back %d times".formatted(rounds));
            }
        }
    }

    private static void serve(Node node, int peer, int rounds) throws IOException {
        try (var segment = node.newSegment(SECOND_SEGMENT, BYTES);
                var own = segment.map()) {
            segment.offer();
            try (var remote =
                            node.connect(
                                    peer, FIRST_SEGMENT, SisciOptions.patience("node " + peer));
                    var theirs = remote.map()) {
                theirs.putLong(HOW_OFTEN, rounds);
                theirs.putLongRelease(WHO_PLAYS, node.id());
                theirs.flush();
                var start = System.nanoTime();
                for (var round = 1L; round <= rounds; round++) {
                    send(theirs, round);
                    await(own, round);
                }
                var nanos = System.nanoTime() - start;
                IO.println(
                        String.format(
                                Locale.ROOT,
                                "%d rounds, %.2f us each",
                                rounds,
                                nanos / 1e3 / rounds));
            }
        }
    }

    private static void send(RemoteMap theirs, long ball) {
        theirs.putLong(BALL, ball);
        theirs.flush(); // or it may stay in this CPU for a while
    }

    private static void await(LocalMap own, long ball) throws IOException {
        SisciOptions.spinUntil(() -> own.getLongAcquire(BALL) == ball);
    }
}
