package org.jrdma.examples.sharedsegment;

import module org.jrdma.sisci;

import java.io.IOException;
import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * A shared segment: one node exports memory and polls it, and another node maps the memory and
 * stores a text there with ordinary stores.
 *
 * <pre>
 * ./jrdma example shared-segment         # prints the id of its node
 * ./jrdma example shared-segment 4       # on another node: stores a text into the memory of node 4
 * </pre>
 */
@Command(
        name = "shared-segment",
        description = "A node stores a text in the memory of another (SISCI)")
public final class SharedSegment extends AbstractExample {

    private static final int SEGMENT = 4001;
    private static final int BYTES = 4096;

    // The layout of the segment: a number that is 0 until the text has arrived, and the text.
    private static final int ARRIVED = 0;
    private static final int TEXT = 64;

    @Parameters(arity = "0..1", paramLabel = "NODE", description = "the node that has the segment")
    private Integer peer;

    static void main(String... arguments) {
        new SharedSegment().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        try (var node = sisci().open()) {
            if (peer == null) {
                export(node);
            } else {
                store(node);
            }
        }
    }

    private static void export(Node node) throws IOException {
        try (var segment = node.newSegment(SEGMENT, BYTES);
                var memory = segment.map()) {
            segment.offer(); // From now on, other nodes can connect.
            IO.println("waiting on node %d, until %s".formatted(node.id(), deadline()));
            spinUntil(() -> memory.getLongAcquire(ARRIVED) != 0);
            IO.println("found \"%s\"".formatted(memory.segment().getString(TEXT)));
        } // Waits until the other node has disconnected.
    }

    private void store(Node node) throws IOException {
        IO.println("connecting to node %d, until %s".formatted(peer, deadline()));
        try (var segment = node.connect(peer, SEGMENT, TIMEOUT);
                var memory = segment.map()) {
            memory.segment().setString(TEXT, "Saluton, mondo");
            memory.putLongRelease(ARRIVED, 1); // A node that reads 1 here also sees the text.
            memory.flush();
            IO.println("stored \"Saluton, mondo\"");
        }
    }
}
