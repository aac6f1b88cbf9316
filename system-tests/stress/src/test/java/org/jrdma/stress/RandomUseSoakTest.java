package org.jrdma.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Tests that random concurrent use of the API neither crashes nor blocks. Threads post, poll, wait
 * and close at random, on a provider that ends the process when it is called with a destroyed
 * object. {@code -Djrdma.soak.seconds=60} sets the duration. {@code -Djrdma.soak.seed} repeats the
 * random choices of a run.
 */
class RandomUseSoakTest {

    private static final int SECONDS = Integer.getInteger("jrdma.soak.seconds", 10);
    private static final long SEED = Long.getLong("jrdma.soak.seed", System.nanoTime());
    private static final int THREADS = 6;

    /**
     * The time within which each thread must terminate after the end of the run. No single wait
     * takes nearly as long.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    @Test
    void shouldNeitherCrashNorHangIfThreadsUseAndCloseObjectsAtRandom() throws Exception {
        var provider = NullProviderDevice.provider();
        System.out.printf(
                "Soak of %d s, -Djrdma.soak.seed=%d, %d threads%n", SECONDS, SEED, THREADS);
        provider.linger(20);
        var end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        var shared = new SharedSoakObjects(provider.verbs());
        var workers = new ArrayList<RandomUseSoakWorker>();
        for (var index = 0; index < THREADS; index++) {
            workers.add(new RandomUseSoakWorker(shared, SEED + index, end));
        }
        var threads = new ArrayList<Thread>();
        for (var index = 0; index < THREADS; index++) {
            var builder = index % 3 == 2 ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
            threads.add(builder.name("soak-" + index).start(workers.get(index)));
        }
        awaitAll(threads, end);
        shared.close();
        provider.linger(0);
        report(workers);
        for (var worker : workers) {
            assertThat(worker.unexpected()).isNull();
        }
    }

    private static void awaitAll(List<Thread> threads, long end) throws InterruptedException {
        for (var thread : threads) {
            var timeout = Duration.ofNanos(Math.max(0, end - System.nanoTime())).plus(TIMEOUT);
            if (!thread.join(timeout)) {
                threads.forEach(RandomUseSoakTest::dump);
                Thread.getAllStackTraces().keySet().forEach(RandomUseSoakTest::dump);
                fail("%s hangs. The stacks of the threads are above.", thread.getName());
            }
        }
    }

    private static void dump(Thread thread) {
        System.out.println(thread);
        for (var frame : thread.getStackTrace()) {
            System.out.println("    at " + frame);
        }
    }

    private static void report(List<RandomUseSoakWorker> workers) {
        var counts = new TreeMap<String, Long>();
        for (var worker : workers) {
            worker.counts().forEach((name, count) -> counts.merge(name, count, Long::sum));
        }
        counts.forEach((name, count) -> System.out.printf(Locale.ROOT, "%,12d %s%n", count, name));
        assertThat(counts)
                .as("executed operations")
                .containsKeys("post", "chain", "receive", "poll", "cursor await", "transfer await")
                .containsKeys("close a region", "close a queue pair", "close a completion queue")
                .containsKeys("close a domain", "close a device", "close a dispatcher", "drain");
    }
}
