package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * The processor time of the processes that take part in a measurement, in nanoseconds for each
 * byte. The kernel reports the time of a process in steps of 10 ms.
 *
 * @param client the process that reads or writes
 * @param server the process that redirects the data
 * @param drive the process that executes the commands of the drive
 */
record ProcessorTimePerByte(double client, double server, double drive) {

    /** The processes that take part. */
    record Processes(ProcessHandle client, ProcessHandle server, ProcessHandle drive) {

        /** Returns the processor times until now. */
        List<Duration> times() throws IOException {
            return List.of(time(client), time(server), time(drive));
        }

        private static Duration time(ProcessHandle process) throws IOException {
            return process.info()
                    .totalCpuDuration()
                    .orElseThrow(() ->
                            new IOException(
                                    "The processor time of the process %d is unknown. Has the process ended?"
                                            .formatted(process.pid())));
        }
    }

    /**
     * Returns the processor times for each byte.
     *
     * @param before the times before the measurement
     * @param after the times after the measurement
     */
    static ProcessorTimePerByte of(List<Duration> before, List<Duration> after, double bytes) {
        return new ProcessorTimePerByte(
                after.get(0).minus(before.get(0)).toNanos() / bytes,
                after.get(1).minus(before.get(1)).toNanos() / bytes,
                after.get(2).minus(before.get(2)).toNanos() / bytes);
    }

    double total() {
        return client + server + drive;
    }
}
