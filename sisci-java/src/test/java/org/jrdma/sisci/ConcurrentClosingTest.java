package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that a close while other threads use the objects does not crash the JVM. The calls of these
 * threads fail with an exception.
 */
@Timeout(60)
class ConcurrentClosingTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int ROUNDS = 100;

    private interface Use {
        void use() throws Exception;
    }

    @Test
    void shouldRejectConcurrentCallsOfOtherThreads() throws Exception {
        var library = new FakeLibrary(Kind.SINGLE_THREADED);
        for (var round = 0; round < ROUNDS; round++) {
            try (var arena = Arena.ofShared()) {
                var message = arena.allocate(64, 8);
                var node = library.sisci.open();
                var segment = node.newSegment(7, 4096);
                segment.offer();
                var local = segment.map();
                var remote = node.connect(4, 7, TIMEOUT);
                var map = remote.map();
                var sequence = map.newSequence();
                var interrupt = node.newDataInterrupt();
                var trigger = node.connectDataInterrupt(4, interrupt.number(), TIMEOUT);
                var uses =
                        List.<Use>of(
                                () -> map.putLongRelease(0, local.getLong(0) + 1),
                                () -> map.copyFrom(message, 64),
                                () -> sequence.tryWrite(128, message),
                                () -> trigger.trigger(new byte[16]),
                                () -> local.segment().fill((byte) 1));
                var running = new ArrayList<CompletableFuture<Void>>();
                var started = new CountDownLatch(uses.size());
                uses.forEach(use -> running.add(repeat(use, started)));
                started.await();

                (round % 2 == 0 ? node : remote).close();
                node.close();

                for (var use : running) {
                    assertThatIllegalStateException()
                            .isThrownBy(() -> {
                                try {
                                    use.join();
                                } catch (CompletionException e) {
                                    throw e.getCause();
                                }
                            });
                }
            }
        }
        assertThat(library.calls("SCITerminate")).isEqualTo(ROUNDS);
    }

    /**
     * Repeats a call on another thread until the call throws an exception, with which the returned
     * future completes.
     */
    private static CompletableFuture<Void> repeat(Use use, CountDownLatch started) {
        var ended = new CompletableFuture<Void>();
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    try {
                        use.use();
                        started.countDown();
                        while (true) {
                            use.use();
                        }
                    } catch (Exception e) {
                        ended.completeExceptionally(e);
                    }
                });
        return ended;
    }
}
