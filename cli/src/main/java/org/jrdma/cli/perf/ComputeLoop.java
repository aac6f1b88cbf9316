package org.jrdma.cli.perf;

import java.util.concurrent.CompletableFuture;

/**
 * Measures the duration of an arithmetic loop that two threads run at the same time. The loop has
 * enough independent operations to occupy a core fully, so it takes longer if another virtual
 * machine uses the same core by its second hardware thread, or if the frequency is lower.
 */
final class ComputeLoop {

    private static final long DURATION_NANOS = 10_000_000;
    private static final int ROUNDS = 2_000;

    /** The last result. It is the next input, so that the JVM does not remove the loop. */
    private static volatile long result;

    private ComputeLoop() {}

    /**
     * Returns the average duration of a loop in nanoseconds, of the slower thread. On a machine
     * with one processor, only the calling thread runs the loop.
     */
    static long nanos() {
        if (Runtime.getRuntime().availableProcessors() == 1) {
            return average();
        }
        var other = new CompletableFuture<Long>();
        Thread.ofPlatform().daemon().name("compute loop").start(() -> other.complete(average()));
        return Math.max(average(), other.join());
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
