package org.jrdma.spark;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * The executors that are not read from by RDMA at present. An executor that fails is avoided for 30
 * seconds, and for twice as long, up to ten minutes, each time it fails again before a block could
 * be read. Executors without an address are avoided permanently. Safe for use by multiple threads.
 */
final class PeerAvoidance {

    static final Duration FIRST = Duration.ofSeconds(30);
    static final Duration LONGEST = Duration.ofMinutes(10);

    /**
     * @param until the time at which the avoidance ends, as returned by the clock
     */
    private record Avoidance(Duration length, long until) {}

    private final LongSupplier nanoTime;
    private final Map<String, Avoidance> failed = new ConcurrentHashMap<>();

    /**
     * The executors without an address. An executor publishes its address before it runs the first
     * task, and Spark does not reuse the names of removed executors.
     */
    private final Set<String> unlisted = ConcurrentHashMap.newKeySet();

    PeerAvoidance() {
        this(System::nanoTime);
    }

    /**
     * @param nanoTime a clock such as {@link System#nanoTime()}
     */
    PeerAvoidance(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Returns true if RDMA should not be tried now. */
    boolean isAvoided(String executor) {
        var avoidance = failed.get(executor);
        return unlisted.contains(executor)
                || (avoidance != null && nanoTime.getAsLong() - avoidance.until < 0);
    }

    /** Returns true if no block could be read from the executor since it failed. */
    boolean hasFailed(String executor) {
        return failed.containsKey(executor);
    }

    /** Avoids an executor that failed for a while. */
    void avoid(String executor) {
        failed.compute(
                executor,
                (_, last) -> {
                    var length = last == null ? FIRST : doubled(last.length);
                    return new Avoidance(length, nanoTime.getAsLong() + length.toNanos());
                });
    }

    private static Duration doubled(Duration length) {
        var twice = length.multipliedBy(2);
        return twice.compareTo(LONGEST) < 0 ? twice : LONGEST;
    }

    /** Forgets the failures of an executor from which a block was read. */
    void succeeded(String executor) {
        failed.remove(executor);
    }

    /**
     * Avoids an executor without an address permanently.
     *
     * @return false if it was avoided permanently before
     */
    boolean avoidPermanently(String executor) {
        return unlisted.add(executor);
    }
}
