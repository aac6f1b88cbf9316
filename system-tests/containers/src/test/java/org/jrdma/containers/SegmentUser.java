package org.jrdma.containers;

import static org.jrdma.sisci.model.SegmentEvent.Type.LOST;
import static org.jrdma.sisci.model.SegmentEvent.Type.OPERATIONAL;

import java.time.Duration;
import org.jrdma.sisci.Sisci;

/**
 * A program: stores into the segment of another node, and says what happens to it. Stores another
 * number after each return of the link. Ends when the owner has; then says what it still loads.
 */
final class SegmentUser {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private SegmentUser() {}

    static void main(String... arguments) throws Exception {
        var peer = Integer.parseInt(arguments[0]);
        try (var node = Sisci.software().open();
                var segment = node.connect(peer, SegmentOwner.SEGMENT, PATIENCE);
                var memory = segment.map()) {
            var number = 1L;
            memory.putLongRelease(0, number);
            memory.flush();
            IO.println("node %d stored %d.".formatted(node.id(), number));
            var type = OPERATIONAL;
            while (type != LOST) {
                type = segment.nextEvent(PATIENCE).type();
                IO.println("is told %s, and loads %d.".formatted(type, memory.getLong(0)));
                if (type == OPERATIONAL) {
                    number++;
                }
                // Where the link is cut, it must not arrive.
                memory.putLongRelease(0, type == OPERATIONAL ? number : -7);
                memory.flush();
            }
        }
    }
}
