package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * At the depth where it refuses, there is room for many frames more; before its code is compiled as
 * well as after.
 */
@Timeout(60)
class StackRoomTest {

    private static final int ROUNDS = 200;
    private static final int COLD_CALLS = 20_000;
    private static final long STACK_BYTES = 512 << 10;

    /** What the largest frame of {@link #goOn} takes, which is an interpreted one. */
    private static final int FRAME_BYTES = 160;

    private int framesBeyond;

    @Test
    void shouldRefuseCallsThatMayUseClassesForTheFirstTimeWhileThereIsRoomForThem()
            throws Exception {
        StackRoom.need();

        assertThat(roomWhereRefused(StackRoom::ensure)).isGreaterThan(128 << 10);
    }

    @Test
    void shouldRefuseCallsOnTheHotPathWhileThereIsRoomForThem() throws Exception {
        StackRoom.need();
        for (var call = 0; call < COLD_CALLS; call++) {
            StackRoom.didSomething();
        }

        assertThat(roomWhereRefused(StackRoom::ensureForHotPath)).isGreaterThan(16 << 10);
    }

    /** The least of many rounds, taking each frame for one of the largest. */
    private long roomWhereRefused(Runnable ensure) throws Exception {
        var least = new CompletableFuture<Long>();
        new Thread(
                        null,
                        () -> {
                            try {
                                var frames = Long.MAX_VALUE;
                                for (var round = 0; round < ROUNDS; round++) {
                                    framesBeyond = 0;
                                    descend(ensure);
                                    frames = Math.min(frames, framesBeyond);
                                }
                                least.complete(frames * FRAME_BYTES);
                            } catch (Throwable e) {
                                least.completeExceptionally(e);
                            }
                        },
                        "deep",
                        STACK_BYTES)
                .start();
        return least.get(50, TimeUnit.SECONDS);
    }

    /** Overflows by itself where room is not asked for. */
    @SuppressWarnings("InfiniteRecursion") // until room is refused
    private void descend(Runnable ensure) {
        try {
            ensure.run();
        } catch (StackOverflowError e) {
            goOn();
            return;
        }
        descend(ensure);
    }

    private void goOn() {
        try {
            goOnToTheEnd();
        } catch (StackOverflowError e) {
            // as far as it went
        }
    }

    @SuppressWarnings("InfiniteRecursion") // until the stack is full
    private void goOnToTheEnd() {
        framesBeyond++;
        goOnToTheEnd();
    }
}
