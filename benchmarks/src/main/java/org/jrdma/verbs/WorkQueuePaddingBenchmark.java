package org.jrdma.verbs;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import org.jrdma.benchmarks.ChildProcess;
import org.jrdma.benchmarks.ComparisonRowPrinter;
import org.jrdma.benchmarks.Median;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;

/**
 * Compares a work queue, whose two counters are padded and whose posting thread keeps a copy of the
 * other counter, with a simple queue whose counters share a cache line. One thread acquires slots
 * and another thread releases them. Each variant runs in separate processes, so that the JIT
 * compiles both variants equally. The processes take turns. A result is the median over the turns
 * of the median over the rounds of a turn.
 *
 * <p>The posting thread waits for free slots and the completing thread for requests, as in a queue
 * pair that is driven at its full rate.
 */
public final class WorkQueuePaddingBenchmark {

    private static final int CAPACITY = 256;
    private static final int[] CHAINS = {1, 16};
    private static final int TURNS = 7;
    private static final int ROUNDS = 200;
    private static final int ROUNDS_TO_WARM_UP = 200;
    private static final int REQUESTS = 16_000;

    /** The operations of a posting thread and of a completing thread on a work queue. */
    private interface Queue {
        boolean hasFreeSlots(int count);

        int outstanding();

        void post(int chain);

        void complete(int position);
    }

    private static final class PaddedQueue implements Queue {
        private final PolledWorkQueueSlots queue = new PolledWorkQueueSlots(CAPACITY);

        @Override
        public boolean hasFreeSlots(int count) {
            return queue.hasFreeSlots(count);
        }

        @Override
        public int outstanding() {
            return queue.outstanding();
        }

        @Override
        public void post(int chain) {
            for (var request = 0; request < chain; request++) {
                queue.number(queue.nextPosition() + request, request);
            }
            queue.take(chain);
        }

        @Override
        public void complete(int position) {
            queue.complete(position);
        }
    }

    private static final class UnpaddedQueue implements Queue {
        private static final VarHandle POSTED = counter("posted");
        private static final VarHandle RELEASED = counter("released");

        private final long[] ids = new long[2 * CAPACITY];

        @SuppressWarnings("unused") // Used through POSTED.
        private long posted;

        @SuppressWarnings("unused") // Used through RELEASED.
        private long released;

        private static VarHandle counter(String name) {
            try {
                return MethodHandles.lookup().findVarHandle(UnpaddedQueue.class, name, long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        @Override
        public boolean hasFreeSlots(int count) {
            return CAPACITY - (int) (posted - (long) RELEASED.getAcquire(this)) >= count;
        }

        @Override
        public int outstanding() {
            return (int) ((long) POSTED.getAcquire(this) - (long) RELEASED.getAcquire(this));
        }

        @Override
        public void post(int chain) {
            for (var request = 0; request < chain; request++) {
                ids[(int) (posted + request) & (ids.length - 1)] = request;
            }
            POSTED.setRelease(this, posted + chain);
        }

        @Override
        public void complete(int position) {
            POSTED.getAcquire(this);
            var full = released + (position - (int) released);
            if (ids[(int) full & (ids.length - 1)] < 0) {
                throw new IllegalStateException();
            }
            RELEASED.setRelease(this, full + 1);
        }
    }

    private WorkQueuePaddingBenchmark() {}

    /**
     * Prints a table. If an argument names a queue, measures only that queue in this process and
     * prints one result on each line.
     */
    public static void main(String... arguments) throws Exception {
        if (arguments.length > 0) {
            measure(arguments[0].equals(UnpaddedQueue.class.getSimpleName()));
            return;
        }
        var own = new double[CHAINS.length][TURNS];
        var baseline = new double[CHAINS.length][TURNS];
        for (var turn = 0; turn < TURNS; turn++) {
            measureInChildProcess(PaddedQueue.class, own, turn);
            measureInChildProcess(UnpaddedQueue.class, baseline, turn);
        }
        System.out.println(
                "| request, ns | work queue | counters in one cache line | ratio | bound |");
        System.out.println("|---|---|---|---|---|");
        ComparisonRowPrinter.print("one by one", own[0], baseline[0], "");
        ComparisonRowPrinter.print(
                "in chains of 16, of which the last is signaled", own[1], baseline[1], "");
    }

    private static void measureInChildProcess(Class<?> queue, double[][] figures, int turn)
            throws IOException, InterruptedException {
        var process = ChildProcess.start(WorkQueuePaddingBenchmark.class, queue.getSimpleName());
        try (var lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (var row : figures) {
                row[turn] = Double.parseDouble(lines.readLine());
            }
        } finally {
            process.destroy();
            process.waitFor();
        }
    }

    private static void measure(boolean unpadded) throws InterruptedException {
        for (var chain : CHAINS) {
            var queue = unpadded ? new UnpaddedQueue() : new PaddedQueue();
            var completing = Thread.ofPlatform().start(() -> complete(queue, chain));
            var nanos = new double[ROUNDS];
            for (var round = -ROUNDS_TO_WARM_UP; round < ROUNDS; round++) {
                var start = System.nanoTime();
                post(queue, chain);
                if (round >= 0) {
                    nanos[round] = (double) (System.nanoTime() - start) / REQUESTS;
                }
            }
            completing.join();
            System.out.println(Median.of(nanos));
        }
    }

    private static void post(Queue queue, int chain) {
        for (var posted = 0; posted < REQUESTS; posted += chain) {
            while (!queue.hasFreeSlots(chain)) {
                Thread.onSpinWait();
            }
            queue.post(chain);
        }
    }

    private static void complete(Queue queue, int chain) {
        var requests = (ROUNDS_TO_WARM_UP + ROUNDS) * REQUESTS;
        for (var completed = 0; completed < requests; completed += chain) {
            while (queue.outstanding() < chain) {
                Thread.onSpinWait();
            }
            queue.complete(completed + chain - 1);
        }
    }
}
