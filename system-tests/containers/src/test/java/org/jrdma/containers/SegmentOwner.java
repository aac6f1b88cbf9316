package org.jrdma.containers;

import java.time.Duration;
import org.jrdma.sisci.Sisci;

/**
 * A program that makes a segment available until it is killed, and prints the values that other
 * nodes store there.
 */
final class SegmentOwner {

    static final int SEGMENT = 7;
    static final int BYTES = 4096;

    private SegmentOwner() {}

    static void main() throws Exception {
        try (var node = Sisci.software().open();
                var segment = node.newSegment(SEGMENT, BYTES);
                var memory = segment.map()) {
            segment.offer();
            IO.println("offers a segment as node %d".formatted(node.id()));
            for (var last = 0L; ; Thread.sleep(Duration.ofMillis(20))) {
                var now = memory.getLongAcquire(0);
                if (now != last) {
                    IO.println("holds %d.".formatted(now));
                    last = now;
                }
            }
        }
    }
}
