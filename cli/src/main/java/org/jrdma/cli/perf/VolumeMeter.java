package org.jrdma.cli.perf;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.jrdma.nvme.NvmeDrive;

/** Measures accesses to a file of a volume, one at a time. */
final class VolumeMeter {

    private final MeasuredVolume volume;
    private final FileChannel file;
    private final NvmeResult.Operation operation;
    private final AccessOrder.Pattern pattern;
    private final int bytes;
    private final AccessOrder order;
    private final ByteBuffer buffer;
    private final Samples samples = new Samples();

    /** The processor times that the last slices took. */
    private final Deque<ProcessorTimePerByte.Times> processorTimes = new ArrayDeque<>();

    /** The results of a volume, and of the driver of its drive. */
    record VolumeAndDriver(VolumeResult volume, VolumeResult driver) {}

    private VolumeMeter(
            MeasuredVolume volume,
            NvmeResult.Operation operation,
            AccessOrder.Pattern pattern,
            int bytes) {
        this.volume = volume;
        this.file = volume.file();
        this.operation = operation;
        this.pattern = pattern;
        this.bytes = bytes;
        this.order = new AccessOrder(pattern, bytes, 0, MeasuredVolume.FILE_BYTES);
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
        return meter.result(RepeatedMeasurement.repeat(time, bytes, 1, meter::slice));
    }

    /**
     * Measures a volume on a drive of this process, and the driver of the drive in turns with it.
     *
     * @param bytes the size of an access, at most that of the file
     */
    static VolumeAndDriver measureInTurnsWithDriver(
            MeasuredVolume volume,
            NvmeDrive drive,
            NvmeResult.Operation operation,
            AccessOrder.Pattern pattern,
            int bytes,
            Duration time)
            throws IOException {
        var meter = new VolumeMeter(volume, operation, pattern, bytes);
        try (var driver = new NvmeMeter(drive, operation, 1, driverOrder(drive, pattern, bytes))) {
            meter.run(time);
            driver.run(time);
            var measured =
                    RepeatedMeasurement.repeatInTurns(
                            time, bytes, 1, List.of(meter::slice, driver::slice));
            driver.drain();
            return new VolumeAndDriver(
                    meter.result(measured.getFirst()),
                    VolumeResult.ofDriver(operation, pattern, bytes, measured.getLast()));
        }
    }

    /** Returns accesses to as many bytes as the file has, at the end of the drive. */
    private static AccessOrder driverOrder(
            NvmeDrive drive, AccessOrder.Pattern pattern, int bytes) {
        var start = drive.namespaces().getFirst().bytes() - MeasuredVolume.FILE_BYTES;
        return new AccessOrder(pattern, bytes, start, MeasuredVolume.FILE_BYTES);
    }

    private VolumeResult result(RepeatedMeasurement measured) {
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
                Optional.of(
                        processorTimes.stream()
                                .reduce(
                                        ProcessorTimePerByte.Times.ZERO,
                                        ProcessorTimePerByte.Times::plus)
                                .perByte(measuredBytes)),
                Optional.of(volume.connection()));
    }

    /** Reads and writes before the first measurement, so that the JVM compiles the code. */
    static void warmUp(MeasuredVolume volume, int bytes, Duration time) throws IOException {
        var order = AccessOrder.Pattern.RANDOM;
        for (var operation : NvmeResult.Operation.values()) {
            var meter = new VolumeMeter(volume, operation, order, bytes);
            RepeatedMeasurement.warmUp(time, meter::slice);
        }
        if (volume.drive().isPresent()) {
            var drive = volume.drive().orElseThrow();
            var operations = List.of(NvmeResult.Operation.values());
            NvmeMeter.warmUp(drive, operations, 1, driverOrder(drive, order, bytes), time);
        }
    }

    private MeasurementSlice slice(Duration time) throws IOException {
        var before = volume.processes().times();
        var start = System.nanoTime();
        run(time);
        var nanos = System.nanoTime() - start;
        processorTimes.addLast(volume.processes().times().minus(before));
        if (processorTimes.size() > RepeatedMeasurement.SLICES) {
            processorTimes.removeFirst();
        }
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
