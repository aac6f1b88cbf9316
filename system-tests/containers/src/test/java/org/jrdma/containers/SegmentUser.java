package org.jrdma.containers;

import static org.jrdma.sisci.model.SegmentEvent.Type.LOST;
import static org.jrdma.sisci.model.SegmentEvent.Type.OPERATIONAL;

import java.time.Duration;
import org.jrdma.sisci.Sisci;

/**
 * A program that stores numbers into the segment of another node, and prints the segment events and
 * the loaded values. It stores the next number whenever the link has become operational again. It
 * ends when the segment is lost because its owner has ended.
 */
final class SegmentUser {

    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private SegmentUser() {}

    static void main(String... arguments) throws Exception {
        var peer = Integer.parseInt(arguments[0]);
        try (var node = Sisci.software().open();
                var segment = node.connect(peer, SegmentOwner.SEGMENT, TIMEOUT);
                var memory = segment.map()) {
            var number = 1L;
            memory.putLongRelease(0, number);
            memory.flush();
            IO.println("node %d stored %d.".formatted(node.id(), number));
            var type = OPERATIONAL;
            while (type != LOST) {
                type = segment.nextEvent(TIMEOUT).type();
                IO.println("received %s, and loads %d.".formatted(type, memory.getLong(0)));
                if (type == OPERATIONAL) {
                    number++;
                }
                // -7 must not arrive, because it is stored while the link is cut
                memory.putLongRelease(0, type == OPERATIONAL ? number : -7);
                memory.flush();
            }
        }
    }
}
