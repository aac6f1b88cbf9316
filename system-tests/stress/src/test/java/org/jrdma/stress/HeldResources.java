package org.jrdma.stress;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/**
 * The resources that this process holds.
 *
 * @param heapBytes the size of the live objects
 * @param descriptors the number of open file descriptors
 * @param threads the number of platform threads of the JVM, including virtual threads' carriers
 * @param residentBytes the resident memory of the process
 */
record HeldResources(long heapBytes, long descriptors, int threads, long residentBytes) {

    /** The growth of the heap that is attributed to caches, profiles and compiled code. */
    private static final long HEAP_TOLERANCE = 512 << 10;

    /** The growth of the resident memory that is attributed to the JVM and to fragmentation. */
    private static final long RESIDENT_TOLERANCE = 32 << 20;

    /** The growth of the number of threads and descriptors that pools may cause. */
    private static final int POOL_TOLERANCE = 4;

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int COLLECTIONS = 3;

    static HeldResources now() throws IOException, InterruptedException {
        for (var collection = 0; collection < COLLECTIONS; collection++) {
            System.gc();
            Thread.sleep(50); // Cleaners run between the collections.
        }
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return new HeldResources(
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                    descriptors.count(),
                    ManagementFactory.getThreadMXBean().getThreadCount(),
                    readResidentBytes());
        }
    }

    private static long readResidentBytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                .findFirst()
                .orElseThrow();
    }

    /**
     * Waits until the process holds no more resources than these, at most for a timeout. Returns
     * the resources that the process then holds. Objects of closed connections may stay for some
     * seconds, because packets for them may arrive late.
     */
    HeldResources awaitNoMore() throws IOException, InterruptedException {
        var end = System.nanoTime() + TIMEOUT.toNanos();
        var held = now();
        while (!isNoLessThan(held) && System.nanoTime() - end < 0) {
            held = now();
        }
        return held;
    }

    /** Returns true if the other resources exceed these by no more than a tolerance. */
    boolean isNoLessThan(HeldResources other) {
        return other.heapBytes - heapBytes <= HEAP_TOLERANCE
                && other.descriptors - descriptors <= POOL_TOLERANCE
                && other.threads - threads <= POOL_TOLERANCE
                && other.residentBytes - residentBytes <= RESIDENT_TOLERANCE;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "heap %,d KB, %d descriptors, %d threads, resident %,d KB",
                heapBytes >> 10,
                descriptors,
                threads,
                residentBytes >> 10);
    }
}
