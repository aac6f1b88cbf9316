package org.jrdma.nvme.soft;

import org.jrdma.nvme.model.SmartLog;

/** The counters of a controller that its SMART log contains. Safe for use by multiple threads. */
final class Statistics {

    static final int TEMPERATURE_KELVIN = 300;

    private static final long DATA_UNIT_BYTES = 512_000;
    private static final int PERCENT = 100;
    private static final int SPARE_THRESHOLD = 10;
    private static final long HOUR_NANOS = 3_600_000_000_000L;

    private final long start = System.nanoTime();
    private long bytesRead;
    private long bytesWritten;
    private long readCommands;
    private long writeCommands;
    private long mediaErrors;

    synchronized void countRead(long bytes) {
        readCommands++;
        bytesRead += bytes;
    }

    synchronized void countWrite(long bytes) {
        writeCommands++;
        bytesWritten += bytes;
    }

    synchronized void countMediaError() {
        mediaErrors++;
    }

    synchronized SmartLog smartLog(int criticalWarning, long errors) {
        return new SmartLog(
                criticalWarning,
                TEMPERATURE_KELVIN,
                PERCENT,
                SPARE_THRESHOLD,
                0,
                Math.ceilDiv(bytesRead, DATA_UNIT_BYTES),
                Math.ceilDiv(bytesWritten, DATA_UNIT_BYTES),
                readCommands,
                writeCommands,
                1,
                (System.nanoTime() - start) / HOUR_NANOS,
                0,
                mediaErrors,
                errors);
    }
}
