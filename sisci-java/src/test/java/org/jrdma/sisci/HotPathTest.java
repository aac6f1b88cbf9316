package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.abi.testing.AllocatedHeapBytes;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HotPathTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    @Test
    void shouldNotAllocate() throws Exception {
        var library = new FakeLibrary(Kind.SINGLE_THREADED);
        try (var arena = Arena.ofConfined();
                var node = library.sisci.open();
                var segment = node.newSegment(7, 4096)) {
            segment.offer();
            try (var remote = node.connect(4, 7, TIMEOUT);
                    var map = remote.map();
                    var sequence = map.newSequence()) {
                var message = arena.allocate(64, 64);

                var bytes =
                        AllocatedHeapBytes.ofCompiled(() -> store(map, sequence, message, 50_000));

                assertThat(bytes).isLessThan(1_000);
            }
        }
    }

    private static void store(RemoteMap map, Sequence sequence, MemorySegment message, int count)
            throws IOException {
        for (var i = 0; i < count; i++) {
            map.putLong(0, i);
            map.putLongRelease(8, i);
            map.flush();
            map.copyFrom(message, 64);
            sequence.write(128, message, TIMEOUT);
            sequence.storeBarrier();
        }
    }
}
