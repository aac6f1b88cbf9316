package org.jrdma.tck.sisci;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * The base class of tests that use this node and other nodes. After each test, it closes the
 * objects of all nodes in parallel.
 */
@Timeout(60)
abstract class AbstractMultiNodeTest {

    static final Duration TIMEOUT = ofSeconds(10);
    static final int SEGMENT = 700;
    static final long BYTES = 64 << 10;

    /**
     * The time limit for closing all nodes. It is less than the five seconds for which a close
     * retries, so that a test fails if a close has to retry.
     */
    private static final Duration CLOSE_LIMIT = ofSeconds(4);

    final FabricUnderTest fabric = FabricUnderTest.current();
    Node node;
    Peer peer;

    @BeforeEach
    void open() throws Exception {
        node = fabric.sisci().open();
        peer = fabric.peer();
    }

    @AfterEach
    void close() throws Exception {
        var start = System.nanoTime();
        try (var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            var resets =
                    fabric.resets().stream()
                            .map(reset ->
                                    threads.submit(() -> {
                                        reset.run();
                                        return true;
                                    }))
                            .toList();
            node.close();
            for (var reset : resets) {
                reset.get();
            }
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .as("no node waits until another node closes")
                .isLessThan(CLOSE_LIMIT);
    }

    /** Makes the peer create a segment, connects to the segment, and maps it. */
    RemoteMap mapOfPeer(int id, long bytes) throws Exception {
        peer.run(context -> context.offer(id, bytes));
        return node.connect(peer.node(), id, TIMEOUT).map();
    }

    /** Asserts that the segment of the peer contains a value. */
    void assertPeerHas(long offset, long value) throws Exception {
        peer.run(context -> assertThat(context.memory(SEGMENT).getLong(offset)).isEqualTo(value));
    }

    static void eventually(Callable<Boolean> condition) throws Exception {
        var end = System.nanoTime() + TIMEOUT.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("not within %s", TIMEOUT).isLessThan(end);
            Thread.sleep(1);
        }
    }
}
