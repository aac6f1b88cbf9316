package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.VerbsException;

/**
 * One side of a {@link Pair}: a queue pair with its own protection domain, completion queue and
 * memory region. The two sides share only the device.
 */
record Side(
        ProtectionDomain domain,
        CompletionQueue completions,
        CompletionCursor cursor,
        MemoryRegion region,
        PolledQueuePair queuePair) {

    /** A completion and the ID of its request. */
    record Numbered(long id, Completion completion) {}

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    /** Posts a request. */
    void post(PreparedRequest<?> request) throws VerbsException {
        assertThat(request.tryPost()).as("posted").isTrue();
    }

    /** Posts a request and returns its completion, which must be the next one. */
    Completion complete(PreparedRequest<?> request) throws VerbsException {
        post(request);
        return next();
    }

    /** Waits for the next completion. */
    Completion next() {
        return take(1).getFirst().completion();
    }

    /**
     * Waits for the next {@code count} completions. The test fails if they do not arrive in time.
     */
    List<Numbered> take(int count) {
        return take(cursor, count);
    }

    static List<Numbered> take(CompletionCursor cursor, int count) {
        var taken = new ArrayList<Numbered>();
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (taken.size() < count) {
            assertThat(System.nanoTime() - deadline)
                    .as("nanoseconds beyond the deadline, with %s", taken)
                    .isNegative();
            if (cursor.poll() == 0) {
                Thread.onSpinWait();
            }
            while (taken.size() < count && cursor.next()) {
                taken.add(new Numbered(cursor.id(), cursor.completion()));
            }
        }
        return taken;
    }

    /** Fills the region with one repeated byte. */
    void fill(int value) {
        region.segment().fill((byte) value);
    }

    /** Returns bytes of the region. */
    byte[] bytes(long offset, long length) {
        return region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /** Returns an array of one repeated byte. */
    static byte[] times(int count, int value) {
        var bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }
}
