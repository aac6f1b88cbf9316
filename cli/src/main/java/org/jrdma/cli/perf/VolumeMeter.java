package org.jrdma.cli.perf;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Measures accesses to a file of a volume, one at a time. */
final class VolumeMeter {

    private final FileChannel file;
    private final NvmeResult.Operation operation;
    private final AccessOrder order;
    private final ByteBuffer buffer;
    private final Samples samples = new Samples();

    private VolumeMeter(
            MeasuredVolume volume,
            NvmeResult.Operation operation,
            AccessOrder.Pattern pattern,
            int bytes) {
        this.file = volume.file();
        this.operation = operation;
        this.order = new AccessOrder(pattern, bytes, MeasuredVolume.FILE_BYTES);
        this.buffer = volume.buffer(bytes);
    }

    /**
     * Measures for a time, after a warm-up of the same time. Repeats the measurement until it is
     * stable.
     *
     * @param bytes the size of an access, at most that of the file
     */
    static VolumeResult measure(
            MeasuredVolume volume,
            NvmeResult.Operation operation,
            AccessOrder.Pattern pattern,
            int bytes,
            Duration time)
            throws IOException {
        var meter = new VolumeMeter(volume, operation, pattern, bytes);
        meter.run(time);
        var times = new ArrayList<>(List.of(volume.processes().times()));
        var measured =
                RepeatedMeasurement.repeat(
                        time,
                        bytes,
                        1,
                        duration -> {
                            var slice = meter.slice(duration);
                            times.add(volume.processes().times());
                            return slice;
                        });
        var before = times.get(times.size() - 1 - RepeatedMeasurement.SLICES);
        var measuredBytes = (double) measured.latency().samples() * bytes;
        return new VolumeResult(
                volume.path(),
                Optional.empty(),
                operation,
                Optional.of(pattern),
                bytes,
                measured.latency(),
                measured.bandwidth(),
                measured.stable(),
                Optional.of(ProcessorTimePerByte.of(before, times.getLast(), measuredBytes)),
                Optional.of(volume.connection()));
    }

    /** Reads and writes before the first measurement, so that the JVM compiles the code. */
    static void warmUp(MeasuredVolume volume, int bytes, Duration time) throws IOException {
        for (var operation : NvmeResult.Operation.values()) {
            var meter = new VolumeMeter(volume, operation, AccessOrder.Pattern.RANDOM, bytes);
            RepeatedMeasurement.warmUp(time, meter::slice);
        }
    }

    private MeasurementSlice slice(Duration time) throws IOException {
        var start = System.nanoTime();
        run(time);
        var nanos = System.nanoTime() - start;
        return new MeasurementSlice(samples.copy(), samples.count(), nanos);
    }

    private void run(Duration time) throws IOException {
        samples.clear();
        var end = System.nanoTime() + time.toNanos();
        long now;
        do {
            var position = order.nextPosition();
            var start = System.nanoTime();
            access(position);
            now = System.nanoTime();
            samples.add(now - start);
        } while (now - end < 0);
    }

    private void access(long position) throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            var at = position + buffer.position();
            var count =
                    switch (operation) {
                        case READ -> file.read(buffer, at);
                        case WRITE -> file.write(buffer, at);
                    };
            if (count < 0) {
                throw new EOFException("The file ends at " + at);
            }
        }
    }
}
