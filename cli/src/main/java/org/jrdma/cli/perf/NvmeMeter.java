package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.DmaMemory;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeNamespace;
import org.jrdma.nvme.NvmeQueue;

/** Measures transfers through one queue. */
final class NvmeMeter implements AutoCloseable {

    /** The limit of the memory for samples: a controller may execute millions per second. */
    private static final int MAX_SAMPLES = 1_000_000;

    private final NvmeQueue queue;
    private final NvmeNamespace namespace;
    private final DmaMemory memory;
    private final NvmeResult.Operation operation;
    private final AccessOrder order;
    private final int bytes;
    private final int maxCommandBytes;
    private final Samples samples = new Samples();

    /** The times of submission of the pending transfers, by their contexts. */
    private final long[] starts;

    /** The numbers of pending commands of the transfers, by their contexts. */
    private final int[] pendingCommands;

    private long completed;

    /**
     * Opens a queue and fills it.
     *
     * @param depth the number of pending transfers
     * @param order the transfers, each of which consists of several commands if it exceeds the
     *     maximum of the controller
     */
    NvmeMeter(NvmeDrive drive, NvmeResult.Operation operation, int depth, AccessOrder order)
            throws FabricException {
        this.operation = operation;
        this.order = order;
        this.bytes = order.accessBytes();
        maxCommandBytes = drive.maxTransferBytes();
        starts = new long[depth];
        pendingCommands = new int[depth];
        namespace = drive.namespaces().getFirst();
        queue = drive.newQueue(depth * Math.ceilDiv(bytes, maxCommandBytes));
        try {
            memory = drive.newMemory((long) depth * bytes);
        } catch (Throwable e) {
            queue.close();
            throw e;
        }
        for (var context = 0; context < depth; context++) {
            submit(context);
        }
    }

    /**
     * Measures for a time, after a warm-up of the same time. Repeats the measurement until it is
     * stable.
     */
    static RepeatedMeasurement measure(
            NvmeDrive drive,
            NvmeResult.Operation operation,
            int depth,
            AccessOrder order,
            Duration time)
            throws IOException {
        try (var meter = new NvmeMeter(drive, operation, depth, order)) {
            meter.run(time);
            var measured = RepeatedMeasurement.repeat(time, meter.bytes, 1, meter::slice);
            meter.drain();
            return measured;
        }
    }

    /**
     * Executes commands before the first measurement, so that the JVMs compile the code, also that
     * of the process with the controller.
     */
    static void warmUp(
            NvmeDrive drive,
            List<NvmeResult.Operation> operations,
            int depth,
            AccessOrder order,
            Duration time)
            throws IOException {
        for (var operation : operations) {
            try (var meter = new NvmeMeter(drive, operation, depth, order)) {
                RepeatedMeasurement.warmUp(time, meter::slice);
                meter.drain();
            }
        }
    }

    MeasurementSlice slice(Duration time) throws FabricException {
        var before = completed;
        var start = System.nanoTime();
        run(time);
        var nanos = System.nanoTime() - start;
        return new MeasurementSlice(samples.copy(), completed - before, nanos);
    }

    /**
     * Keeps the queue full. The transfers that are pending at the start give no samples, because
     * their durations include the pause before this call.
     */
    void run(Duration time) throws FabricException {
        samples.clear();
        var start = System.nanoTime();
        var end = start + time.toNanos();
        var now = start;
        while (now - end < 0 || samples.count() == 0) {
            if (queue.next()) {
                var context = take();
                if (pendingCommands[context] > 0) {
                    continue;
                }
                now = System.nanoTime();
                if (starts[context] - start >= 0 && samples.count() < MAX_SAMPLES) {
                    samples.add(now - starts[context]);
                }
                submit(context);
            } else {
                Thread.onSpinWait();
                now = System.nanoTime();
            }
        }
    }

    /** Waits for the pending transfers. */
    void drain() throws FabricException {
        var deadline = Deadline.after(ControlChannel.TIMEOUT);
        while (queue.pending() > 0) {
            queue.await(Duration.ofNanos(deadline.remainingNanos()));
            var _ = take();
        }
    }

    @Override
    public void close() {
        queue.close();
        memory.close();
    }

    private int take() throws FabricException {
        if (!queue.succeeded()) {
            throw queue.failure();
        }
        var context = (int) queue.context();
        if (--pendingCommands[context] == 0) {
            completed++;
        }
        return context;
    }

    private void submit(int context) {
        var firstBlock = order.nextPosition() >> namespace.blockShift();
        starts[context] = System.nanoTime();
        for (var done = 0; done < bytes; done += maxCommandBytes) {
            var block = firstBlock + (done >> namespace.blockShift());
            var blocks = Math.min(maxCommandBytes, bytes - done) >> namespace.blockShift();
            var offset = (long) context * bytes + done;
            pendingCommands[context]++;
            var _ =
                    switch (operation) {
                        case READ -> queue.read(namespace, block, blocks, memory, offset, context);
                        case WRITE ->
                                queue.write(namespace, block, blocks, memory, offset, context);
                    };
        }
    }
}
