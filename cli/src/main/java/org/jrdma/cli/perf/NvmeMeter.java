package org.jrdma.cli.perf;

import java.time.Duration;
import java.util.Random;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.DmaMemory;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeNamespace;
import org.jrdma.nvme.NvmeQueue;

/** Measures random transfers through one queue. */
final class NvmeMeter {

    /** The limit of the memory for samples: a controller may execute millions per second. */
    private static final int MAX_SAMPLES = 1_000_000;

    private final NvmeQueue queue;
    private final NvmeNamespace namespace;
    private final DmaMemory memory;
    private final NvmeResult.Operation operation;
    private final int bytes;
    private final int maxCommandBytes;
    private final Random random = new Random(1);
    private final Samples samples = new Samples();

    /** The times of submission of the pending transfers, by their contexts. */
    private final long[] starts;

    /** The numbers of pending commands of the transfers, by their contexts. */
    private final int[] pendingCommands;

    private long completed;

    private NvmeMeter(
            NvmeQueue queue,
            NvmeNamespace namespace,
            DmaMemory memory,
            NvmeResult.Operation operation,
            int depth,
            int bytes,
            int maxCommandBytes) {
        this.queue = queue;
        this.namespace = namespace;
        this.memory = memory;
        this.operation = operation;
        this.bytes = bytes;
        this.maxCommandBytes = maxCommandBytes;
        this.starts = new long[depth];
        this.pendingCommands = new int[depth];
    }

    /**
     * Measures for a time, after a warm-up of the same time.
     *
     * @param depth the number of pending transfers
     * @param bytes the size of each transfer, which consists of several commands if it exceeds the
     *     maximum of the controller
     */
    static Measurement measure(
            NvmeDrive drive, NvmeResult.Operation operation, int depth, int bytes, Duration time)
            throws FabricException {
        var commands = Math.ceilDiv(bytes, drive.maxTransferBytes());
        try (var queue = drive.newQueue(depth * commands);
                var memory = drive.newMemory((long) depth * bytes)) {
            var meter =
                    new NvmeMeter(
                            queue,
                            drive.namespaces().getFirst(),
                            memory,
                            operation,
                            depth,
                            bytes,
                            drive.maxTransferBytes());
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
                    new Measurement(
                            Latency.of(meter.samples.toArray(), 1),
                            Bandwidth.of(bytes, meter.completed - before, nanos));
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
                if (pendingCommands[context] > 0) {
                    continue;
                }
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
        var context = (int) queue.context();
        if (--pendingCommands[context] == 0) {
            completed++;
        }
        return context;
    }

    private void submit(int context) {
        var transfers = namespace.bytes() / bytes;
        var firstBlock = random.nextLong(transfers) * (bytes >> namespace.blockShift());
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
