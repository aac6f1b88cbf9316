package org.jrdma.tck.sisci;

import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.jrdma.sisci.MapOptions;
import org.junit.jupiter.api.Test;

/**
 * Tests that objects can be closed while other threads use them. The calls of these threads must
 * fail with an exception, and the JVM must not crash.
 */
class ConcurrentCloseTest extends AbstractMultiNodeTest {

    private static final int ROUNDS = 20;

    interface Use {
        void use() throws Exception;
    }

    @Test
    void shouldRejectConcurrentCallsOfOtherThreads() throws Exception {
        for (var round = 0; round < ROUNDS; round++) {
            try (var arena = Arena.ofShared()) {
                var message = arena.allocate(64, 8);
                var own = fabric.sisci().open();
                var segment = own.newSegment(SEGMENT, BYTES);
                segment.offer();
                var local = segment.map();
                var remote = own.connect(own.id(), SEGMENT, TIMEOUT);
                var map = remote.map(MapOptions.WHOLE.with(MapOptions.Flag.NO_LOOPBACK));
                var sequence = map.newSequence();
                var interrupt = own.newDataInterrupt();
                var trigger = own.connectDataInterrupt(own.id(), interrupt.number(), TIMEOUT);
                var uses =
                        List.<Use>of(
                                () -> map.putLongRelease(0, local.getLong(0) + 1),
                                () -> map.copyFrom(message, 64),
                                () -> sequence.tryWrite(128, message),
                                () -> trigger.trigger(new byte[16], TIMEOUT),
                                () -> interrupt.receive(TIMEOUT),
                                () -> local.segment().fill((byte) 1));
                var running = new ArrayList<CompletableFuture<Void>>();
                var started = new CountDownLatch(uses.size());
                uses.forEach(use -> running.add(repeat(use, started)));
                started.await();

                (round % 2 == 0 ? own : remote).close();
                own.close();

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
    }

    /** Repeats an operation until it throws an exception. */
    static CompletableFuture<Void> repeat(Use use, CountDownLatch started) {
        var failure = new CompletableFuture<Void>();
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
                        failure.completeExceptionally(e);
                    }
                });
        return failure;
    }
}
