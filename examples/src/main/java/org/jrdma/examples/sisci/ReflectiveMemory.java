package org.jrdma.examples.sisci;

import java.io.IOException;
import java.util.List;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.SegmentOptions;

/**
 * One store that reaches all: each member of a group has a segment of its own, and what anyone
 * stores into the group is in all of them.
 */
public final class ReflectiveMemory {

    private static final String USAGE =
            """
            usage: reflective-memory [options]         joins the group, and shows the text that comes; on as many nodes as there are
                   reflective-memory [options] TEXT    stores a text for all who have joined
            """
                    + SisciOptions.USAGE;

    private static final int GROUP = 1;
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
                    join(node);
                } else {
                    store(node, options.word());
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private static void join(Node node) throws IOException {
        try (var segment = node.newSegment(SegmentOptions.inGroup(GROUP, BYTES));
                var memory = segment.map()) {
            segment.offer();
            SisciOptions.sayWhereItWaits(node);
            SisciOptions.spinUntil(() -> memory.getLongAcquire(ARRIVED) != 0);
            IO.println("found \"%s\"".formatted(memory.segment().getString(TEXT)));
        }
    }

    private static void store(Node node, String text) throws IOException {
        try (var group =
                        node.connectGroup(
                                GROUP, SisciOptions.patience("a member of group " + GROUP));
                var memory = group.map()) {
            memory.segment().setString(TEXT, text);
            memory.putLongRelease(ARRIVED, 1);
            memory.flush();
            IO.println("stored \"%s\" for all".formatted(text));
        }
    }
}
