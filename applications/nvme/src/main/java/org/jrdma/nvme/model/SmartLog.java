package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;

/**
 * The health of a controller: the log page SMART. Counters have 128 bits, of which this record has
 * the lower 64.
 *
 * @param criticalWarning bits for spare capacity, temperature, reliability, read-only medium
 * @param temperatureKelvin the temperature
 * @param availableSpare the remaining spare capacity in percent
 * @param spareThreshold the spare capacity below which the controller warns, in percent
 * @param percentageUsed the estimated use of the life of the medium in percent, up to 255
 * @param dataUnitsRead the data read in units of 1,000 times 512 bytes, rounded up
 * @param dataUnitsWritten the data written in units of 1,000 times 512 bytes, rounded up
 * @param readCommands the number of read commands
 * @param writeCommands the number of write commands
 * @param powerCycles the number of power cycles
 * @param powerOnHours the number of hours with power
 * @param unsafeShutdowns the number of losses of power without a shutdown
 * @param mediaErrors the number of errors of the medium
 * @param errorLogEntries the number of entries that the error log has had
 */
public record SmartLog(
        int criticalWarning,
        int temperatureKelvin,
        int availableSpare,
        int spareThreshold,
        int percentageUsed,
        long dataUnitsRead,
        long dataUnitsWritten,
        long readCommands,
        long writeCommands,
        long powerCycles,
        long powerOnHours,
        long unsafeShutdowns,
        long mediaErrors,
        long errorLogEntries) {

    /** The size of the log page in bytes. */
    public static final int BYTES = 512;

    /** The bit of {@link #criticalWarning()} for a temperature beyond a threshold. */
    public static final int TEMPERATURE_WARNING = 1 << 1;

    /** Decodes the log page. */
    public static SmartLog decode(MemorySegment data) {
        return new SmartLog(
                Fields.unsignedByte(data, 0),
                Fields.unsignedShort(data, 1),
                Fields.unsignedByte(data, 3),
                Fields.unsignedByte(data, 4),
                Fields.unsignedByte(data, 5),
                data.get(Fields.LONG, 32),
                data.get(Fields.LONG, 48),
                data.get(Fields.LONG, 64),
                data.get(Fields.LONG, 80),
                data.get(Fields.LONG, 112),
                data.get(Fields.LONG, 128),
                data.get(Fields.LONG, 144),
                data.get(Fields.LONG, 160),
                data.get(Fields.LONG, 176));
    }

    /** Encodes the log page into zeroed memory. */
    public void encode(MemorySegment data) {
        Fields.putByte(data, 0, criticalWarning);
        Fields.putShort(data, 1, temperatureKelvin);
        Fields.putByte(data, 3, availableSpare);
        Fields.putByte(data, 4, spareThreshold);
        Fields.putByte(data, 5, percentageUsed);
        data.set(Fields.LONG, 32, dataUnitsRead);
        data.set(Fields.LONG, 48, dataUnitsWritten);
        data.set(Fields.LONG, 64, readCommands);
        data.set(Fields.LONG, 80, writeCommands);
        data.set(Fields.LONG, 112, powerCycles);
        data.set(Fields.LONG, 128, powerOnHours);
        data.set(Fields.LONG, 144, unsafeShutdowns);
        data.set(Fields.LONG, 160, mediaErrors);
        data.set(Fields.LONG, 176, errorLogEntries);
    }
}
