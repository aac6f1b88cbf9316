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

/** A test on this node and others. What they still have open afterwards is closed, at once. */
@Timeout(60)
abstract class NodesTest {

    static final Duration SOON = ofSeconds(10);
    static final int SEGMENT = 700;
    static final long BYTES = 64 << 10;

    /** Less than the five seconds for which a close goes on while something is in use. */
    private static final Duration AT_ONCE = ofSeconds(4);

    final Fabric fabric = Fabric.underTest();
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
                .as("nobody waits for another to close")
                .isLessThan(AT_ONCE);
    }

    /** The peer offers a segment; here it is mapped. */
    RemoteMap mapOfPeer(int id, long bytes) throws Exception {
        peer.tell(party -> party.offer(id, bytes));
        return node.connect(peer.node(), id, SOON).map();
    }

    /** The peer's own memory has that. */
    void peerHas(long offset, long value) throws Exception {
        peer.tell(party -> assertThat(party.memory(SEGMENT).getLong(offset)).isEqualTo(value));
    }

    static void eventually(Callable<Boolean> condition) throws Exception {
        var end = System.nanoTime() + SOON.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime()).as("not within %s", SOON).isLessThan(end);
            Thread.sleep(1);
        }
    }
}
