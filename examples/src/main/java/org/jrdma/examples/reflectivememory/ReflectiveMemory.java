package org.jrdma.examples.reflectivememory;

import module org.jrdma.sisci;

import java.io.IOException;
import org.jrdma.examples.AbstractExample;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Reflective memory: each member of a group has a segment of its own, and a store into the group
 * reaches the segments of all members.
 *
 * <pre>
 * ./jrdma example reflective-memory               # any number of members
 * ./jrdma example reflective-memory 'Hello'       # stores the text
 * </pre>
 */
@Command(name = "reflective-memory", description = "One store reaches all nodes of a group (SISCI)")
public final class ReflectiveMemory extends AbstractExample {

    private static final int GROUP = 1;
    private static final int BYTES = 4096;

    // The layout of the segment: a number that is 0 until the text has arrived, and the text.
    private static final int ARRIVED = 0;
    private static final int TEXT = 64;

    @Parameters(arity = "0..1", paramLabel = "TEXT", description = "the text to store")
    private String text = "";

    static void main(String... arguments) {
        new ReflectiveMemory().execute(arguments);
    }

    @Override
    protected void run() throws IOException {
        try (var node = sisci().open()) {
            if (text.isEmpty()) {
                join(node);
            } else {
                store(node);
            }
        }
    }

    private static void join(Node node) throws IOException {
        try (var segment = node.newSegment(SegmentOptions.inGroup(GROUP, BYTES));
                var memory = segment.map()) {
            segment.offer();
            IO.println("waiting on node %d, until %s".formatted(node.id(), deadline()));
            spinUntil(() -> memory.getLongAcquire(ARRIVED) != 0);
            IO.println("found \"%s\"".formatted(memory.segment().getString(TEXT)));
        }
    }

    private void store(Node node) throws IOException {
        IO.println("connecting to a member of group %d, until %s".formatted(GROUP, deadline()));
        try (var group = node.connectGroup(GROUP, TIMEOUT);
                var memory = group.map()) {
            memory.segment().setString(TEXT, text);
            memory.putLongRelease(ARRIVED, 1);
            memory.flush();
            IO.println("stored \"%s\" for all".formatted(text));
        }
    }
}
