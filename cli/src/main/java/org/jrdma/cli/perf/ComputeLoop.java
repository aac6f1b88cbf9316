package org.jrdma.cli.perf;

import java.util.concurrent.CountDownLatch;

/**
 * Measures how long two threads take for a loop of arithmetic at the same time. The loop has enough
 * independent operations to occupy a core fully, so it takes longer if another virtual machine uses
 * the same core by its second hardware thread, or if the frequency is lower.
 */
final class ComputeLoop {

    private static final long DURATION_NANOS = 10_000_000;
    private static final int ROUNDS = 2_000;

    /** The last result. It is the next input, so that the JVM does not remove the loop. */
    private static volatile long result;

    private ComputeLoop() {}

    /** Returns the average duration of a loop in nanoseconds, of the slower thread. */
    static long nanos() {
        var answer = new long[1];
        var done = new CountDownLatch(1);
        Thread.ofPlatform()
                .daemon()
                .name("compute loop")
                .start(() -> {
                    answer[0] = average();
                    done.countDown();
                });
        var own = average();
        try {
            done.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return Math.max(own, answer[0]);
    }

    /** The first calls take longer, until the JVM has compiled the loop. */
    private static long average() {
        var start = System.nanoTime();
        var value = result;
        var count = 0;
        long elapsed;
        do {
            value = compute(value);
            count++;
            elapsed = System.nanoTime() - start;
        } while (elapsed < DURATION_NANOS);
        result = value;
        return elapsed / count;
    }

    private static long compute(long seed) {
        var a = seed + 0;
        var b = seed + 1;
        var c = seed + 2;
        var d = seed + 3;
        var e = seed + 4;
        var f = seed + 5;
        var g = seed + 6;
        var h = seed + 7;
        for (var round = 0; round < ROUNDS; round++) {
            a = (a ^ a >>> 7) + round;
            b = (b ^ b >>> 7) + round;
            c = (c ^ c >>> 7) + round;
            d = (d ^ d >>> 7) + round;
            e = (e ^ e >>> 7) + round;
            f = (f ^ f >>> 7) + round;
            g = (g ^ g >>> 7) + round;
            h = (h ^ h >>> 7) + round;
        }
        return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
    }
}
