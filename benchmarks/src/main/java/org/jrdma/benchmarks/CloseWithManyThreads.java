package org.jrdma.benchmarks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.guard.Barrier;
import org.jrdma.ffi.guard.CallGuard;

/**
 * Measures close() in a process with many threads, with membarrier(2) and with thread handshakes.
 * Each barrier has its own processes, because a process selects its barrier once. The processes
 * take turns. A result is the median over the turns of the median over the closes of a turn.
 *
 * <p>Each of the other threads has made a guarded call. In the first measurement, all of them are
 * parked. In the second measurement, some of them make guarded calls without a pause: one thread
 * for each processor that the closing thread does not use.
 */
public final class CloseWithManyThreads {

    private static final int[] THREADS = {10, 100, 1000};
    private static final int TURNS = 5;
    private static final int CLOSES_TO_WARM_UP = 1_000;
    private static final int CLOSES = 500;

    private static volatile boolean isRunning;

    private CloseWithManyThreads() {}

    /**
     * Prints a table. If an argument names a barrier, measures only that barrier in this process
     * and prints one result on each line.
     */
    public static void main(String... arguments) throws Exception {
        if (arguments.length > 0) {
            measure(Barrier.valueOf(arguments[0]));
            return;
        }
        var membarrier = new double[2 * THREADS.length][TURNS];
        var handshake = new double[2 * THREADS.length][TURNS];
        for (var turn = 0; turn < TURNS; turn++) {
            measureInChildProcess(Barrier.MEMBARRIER, membarrier, turn);
            measureInChildProcess(Barrier.HANDSHAKE, handshake, turn);
        }
        System.out.println("| close(), us | membarrier | handshake | ratio | bound |");
        System.out.println("|---|---|---|---|---|");
        for (var row = 0; row < membarrier.length; row++) {
            var threads = THREADS[row / 2];
            ComparisonRowPrinter.print(
                    "%,d other threads, %s"
                            .formatted(
                                    threads,
                                    row % 2 == 0
                                            ? "all parked"
                                            : "of which %d running".formatted(runningThreads())),
                    membarrier[row],
                    handshake[row],
                    threads == 1000 ? "at most 0.1" : "");
        }
    }

    private static void measureInChildProcess(Barrier barrier, double[][] figures, int turn)
            throws IOException, InterruptedException {
        var process =
                ChildProcess.start(
                        CloseWithManyThreads.class,
                        barrier,
                        "-Djrdma.guard="
                                + (barrier == Barrier.HANDSHAKE ? "handshake" : "membarrier"));
        try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (var row : figures) {
                row[turn] = Double.parseDouble(lines.readLine());
            }
        } finally {
            process.destroy();
            process.waitFor();
        }
    }

    private static int runningThreads() {
        return Math.max(1, Runtime.getRuntime().availableProcessors() - 1);
    }

    private static void measure(Barrier barrier) throws InterruptedException {
        if (Barrier.ofThisProcess() != barrier) {
            throw new IllegalStateException(
                    "The barrier %s is not available on this kernel.".formatted(barrier));
        }
        var started = 0;
        for (var threads : THREADS) {
            var haveCalled = new CountDownLatch(threads - started);
            for (; started < threads; started++) {
                var runs = started < runningThreads();
                Thread.ofPlatform().daemon().start(() -> call(haveCalled, runs));
            }
            haveCalled.await();
            System.out.println(medianOfCloses());
            isRunning = true;
            System.out.println(medianOfCloses());
            isRunning = false;
        }
    }

    private static void call(CountDownLatch haveCalled, boolean runs) {
        var guard = CallGuard.ofCurrentThread();
        guard.enter();
        guard.exit();
        haveCalled.countDown();
        while (true) {
            while (runs && isRunning) {
                guard.enter();
                guard.exit();
            }
            LockSupport.parkNanos(runs ? 1_000_000 : Long.MAX_VALUE);
        }
    }

    private static double medianOfCloses() throws InterruptedException {
        Thread.sleep(100); // Waits until each thread is parked or running.
        var micros = new double[CLOSES];
        for (var i = -CLOSES_TO_WARM_UP; i < CLOSES; i++) {
            var lifetime = new Lifetime("nothing", List.of(), () -> {});
            var start = System.nanoTime();
            lifetime.close();
            if (i >= 0) {
                micros[i] = (System.nanoTime() - start) / 1e3;
            }
        }
        return Median.of(micros);
    }
}
