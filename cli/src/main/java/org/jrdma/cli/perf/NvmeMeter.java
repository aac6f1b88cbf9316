package org.jrdma.cli.perf;

import java.time.Duration;
import java.util.Random;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.DmaMemory;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeNamespace;
import org.jrdma.nvme.NvmeQueue;

/** Measures random transfers of 4 KiB through one queue. */
final class NvmeMeter {

    private static final int BYTES = 4096;

    /** The limit of the memory for samples: a controller may execute millions per second. */
    private static final int MAX_SAMPLES = 1_000_000;

    private final NvmeQueue queue;
    private final NvmeNamespace namespace;
    private final DmaMemory memory;
    private final NvmeResult.Operation operation;
    private final Random random = new Random(1);
    private final Samples samples = new Samples();

    /** The times of submission of the pending commands, by their contexts. */
    private final long[] starts;

    private long completed;

    private NvmeMeter(
            NvmeQueue queue,
            NvmeNamespace namespace,
            DmaMemory memory,
            NvmeResult.Operation operation) {
        this.queue = queue;
        this.namespace = namespace;
        this.memory = memory;
        this.operation = operation;
        this.starts = new long[queue.depth()];
    }

    /** Measures for a time, after a warm-up of the same time. */
    static NvmeResult measure(
            NvmeDrive drive,
            MeasuredDrive.Kind controller,
            NvmeResult.Operation operation,
            int depth,
            Duration time)
            throws FabricException {
        try (var queue = drive.newQueue(depth);
                var memory = drive.newMemory((long) depth * BYTES)) {
            var meter = new NvmeMeter(queue, drive.namespaces().getFirst(), memory, operation);
            for (var context = 0; context < depth; context++) {
                meter.submit(context);
            }
            meter.run(time);
            meter.samples.clear();
            var before = meter.completed;
            var start = System.nanoTime();
            meter.run(time);
            var nanos = System.nanoTime() - start;
            var result =
                    new NvmeResult(
                            controller,
                            operation,
                            depth,
                            Latency.of(meter.samples.toArray(), 1),
                            Bandwidth.of(BYTES, meter.completed - before, nanos));
            meter.drain();
            return result;
        }
    }

    /** Keeps the queue full. */
    private void run(Duration time) throws FabricException {
        var end = System.nanoTime() + time.toNanos();
        var now = System.nanoTime();
        while (now - end < 0 || samples.count() == 0) {
            if (queue.next()) {
                var context = take();
                now = System.nanoTime();
                if (samples.count() < MAX_SAMPLES) {
                    samples.add(now - starts[context]);
                }
                submit(context);
            } else {
                Thread.onSpinWait();
                now = System.nanoTime();
            }
        }
    }

    private void drain() throws FabricException {
        var deadline = Deadline.after(ControlChannel.TIMEOUT);
        while (queue.pending() > 0) {
            queue.await(Duration.ofNanos(deadline.remainingNanos()));
            var _ = take();
        }
    }

    private int take() throws FabricException {
        if (!queue.succeeded()) {
            throw queue.failure();
        }
        completed++;
        return (int) queue.context();
    }

    private void submit(int context) {
        var blocks = BYTES >> namespace.blockShift();
        var block = random.nextLong(namespace.blocks() / blocks) * blocks;
        var offset = (long) context * BYTES;
        starts[context] = System.nanoTime();
        var _ =
                switch (operation) {
                    case READ -> queue.read(namespace, block, blocks, memory, offset, context);
                    case WRITE -> queue.write(namespace, block, blocks, memory, offset, context);
                };
    }
}
