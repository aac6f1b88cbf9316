package org.jrdma.ffi.guard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.ChildJvm;
import org.jrdma.ffi.LibraryOpeningProgram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that a failing check leaves enough stack for many more frames. The rounds of a test run the
 * check both interpreted and compiled.
 */
@Timeout(60)
class StackSpaceTest {

    private static final int ROUNDS = 200;
    private static final int COLD_CALLS = 20_000;
    private static final long STACK_BYTES = 512 << 10;

    /**
     * The maximum size in bytes of a frame of {@link #recurse}. Interpreted frames are the largest.
     */
    private static final int FRAME_BYTES = 160;

    private int remainingFrames;

    @Test
    void shouldRejectColdCallsWhileEnoughStackIsLeftForThem() throws Exception {
        StackSpace.enable();

        assertThat(stackLeftAtRejection(StackSpace::ensure)).isGreaterThan(128 << 10);
    }

    @Test
    void shouldRejectHotCallsWhileEnoughStackIsLeftForThem() throws Exception {
        StackSpace.enable();
        for (var call = 0; call < COLD_CALLS; call++) {
            StackSpace.recordWork();
        }

        assertThat(stackLeftAtRejection(StackSpace::ensureForHotPath)).isGreaterThan(16 << 10);
    }

    @Test
    void shouldInitializeOnAThreadWithASmallStack() throws Exception {
        var child = ChildJvm.onClassPath(LibraryOpeningProgram.class, "-Xss200k");

        assertThat(child.output()).endsWith("Opened a test\n");
        assertThat(child.exitCode()).isZero();
    }

    /**
     * Returns the number of bytes of stack that are left when the check fails: the minimum of many
     * rounds, computed from the number of further frames of the maximum size.
     */
    private long stackLeftAtRejection(Runnable ensure) throws Exception {
        var least = new CompletableFuture<Long>();
        new Thread(
                        null,
                        () -> {
                            try {
                                var frames = Long.MAX_VALUE;
                                for (var round = 0; round < ROUNDS; round++) {
                                    remainingFrames = 0;
                                    descend(ensure);
                                    frames = Math.min(frames, remainingFrames);
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

    /** Recurses until the check fails, and then measures the remaining stack. */
    @SuppressWarnings("InfiniteRecursion") // until the check fails
    private void descend(Runnable ensure) {
        try {
            ensure.run();
        } catch (StackOverflowError e) {
            fillStack();
            return;
        }
        descend(ensure);
    }

    private void fillStack() {
        try {
            recurse();
        } catch (StackOverflowError e) {
            // the stack is full
        }
    }

    @SuppressWarnings("InfiniteRecursion") // until the stack is full
    private void recurse() {
        remainingFrames++;
        recurse();
    }
}
