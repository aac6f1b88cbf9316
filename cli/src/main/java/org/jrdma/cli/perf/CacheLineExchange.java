package org.jrdma.cli.perf;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Measures how long a cache line takes from one processor to another and back. Paths through shared
 * memory depend on this time. On a virtual machine, it changes by a factor of four when the host
 * moves a virtual processor to a core that shares no cache with the others, so only measurements
 * with about the same time can be compared.
 */
final class CacheLineExchange {

    private static final long DURATION_NANOS = 10_000_000;
    private static final int ROUNDS = 10;

    // The indexes of two words in different cache lines.
    private static final int PING = 16;
    private static final int PONG = 48;

    private static final long STOP = -1;

    private final AtomicLongArray words = new AtomicLongArray(64);

    private CacheLineExchange() {}

    /** Returns the time in nanoseconds; 0 on a machine with one processor. */
    static long nanos() {
        return Runtime.getRuntime().availableProcessors() == 1
                ? 0
                : new CacheLineExchange().measure();
    }

    private long measure() {
        Thread.ofPlatform().daemon().name("cache line").start(this::answer);
        var best = Long.MAX_VALUE;
        var last = 0L;
        var now = System.nanoTime();
        var end = now + DURATION_NANOS;
        do {
            var start = now;
            for (var round = 0; round < ROUNDS; round++) {
                last++;
                words.setRelease(PING, last);
                while (words.getAcquire(PONG) != last) {
                    Thread.onSpinWait();
                }
            }
            now = System.nanoTime();
            best = Math.min(best, (now - start) / ROUNDS);
        } while (now - end < 0);
        words.setRelease(PING, STOP);
        return best;
    }

    private void answer() {
        var last = 0L;
        while (last != STOP) {
            var value = words.getAcquire(PING);
            if (value == last) {
                Thread.onSpinWait();
            } else {
                words.setRelease(PONG, value);
                last = value;
            }
        }
    }
}
