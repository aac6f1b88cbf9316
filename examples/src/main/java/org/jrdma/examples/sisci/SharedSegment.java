package org.jrdma.examples.sisci;

import java.io.IOException;
import java.util.List;
import org.jrdma.sisci.Node;

/**
 * A piece of memory that another node sees as its own: one offers a segment and looks, the other
 * connects, maps it and stores a text there.
 */
public final class SharedSegment {

    private static final String USAGE =
            """
            usage: shared-segment [options]         offers a segment, and shows the text that comes
                   shared-segment [options] NODE    stores a text into the segment of that node
            """
                    + SisciOptions.USAGE;

    private static final int SEGMENT = 4001;
    private static final int BYTES = 4096;

    // What is stored: a text, and a number that is 0 until the text is there.
    private static final int ARRIVED = 0;
    private static final int TEXT = 64;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(USAGE);
            return;
        }
        try {
            var options = SisciOptions.parse(arguments);
            try (var node = options.openNode()) {
                if (options.waits()) {
                    offer(node);
                } else {
                    store(node, options.peer());
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private static void offer(Node node) throws IOException {
        try (var segment = node.newSegment(SEGMENT, BYTES);
                var memory = segment.map()) {
            segment.offer(); // now others find it, by the number of this node and its own
            SisciOptions.sayWhereItWaits(node);
            SisciOptions.spinUntil(() -> memory.getLongAcquire(ARRIVED) != 0);
            IO.println("found \"%s\"".formatted(memory.segment().getString(TEXT)));
        } // once the other side has disconnected
    }

    private static void store(Node node, int peer) throws IOException {
        try (var segment = node.connect(peer, SEGMENT, SisciOptions.patience("node " + peer));
                var memory = segment.map()) {
            memory.segment().setString(TEXT, "Saluton, mondo");
            memory.putLongRelease(ARRIVED, 1); // whoever sees this sees the text
            memory.flush();
            IO.println("stored \"Saluton, mondo\"");
        }
    }
}
