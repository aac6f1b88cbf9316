package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;

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
        Times times() throws IOException {
            return new Times(time(client), time(server), time(drive));
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

    /** The processor times of the processes. */
    record Times(Duration client, Duration server, Duration drive) {

        static final Times ZERO = new Times(Duration.ZERO, Duration.ZERO, Duration.ZERO);

        Times plus(Times other) {
            return new Times(
                    client.plus(other.client), server.plus(other.server), drive.plus(other.drive));
        }

        Times minus(Times other) {
            return new Times(
                    client.minus(other.client),
                    server.minus(other.server),
                    drive.minus(other.drive));
        }

        ProcessorTimePerByte perByte(double bytes) {
            return new ProcessorTimePerByte(
                    client.toNanos() / bytes, server.toNanos() / bytes, drive.toNanos() / bytes);
        }
    }

    double total() {
        return client + server + drive;
    }
}
