package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;

/**
 * An entry of the error log.
 *
 * @param count the number of the error, from 1; 0 for an unused entry
 * @param submissionQueue the id of the submission queue
 * @param commandId the id of the command
 * @param status the status of the command in 15 bits
 * @param block the first block of the command
 * @param namespace the namespace of the command
 */
public record ErrorLogEntry(
        long count, int submissionQueue, int commandId, int status, long block, int namespace) {

    /** The size of an entry in bytes. */
    public static final int BYTES = 64;

    /** Decodes an entry. */
    public static ErrorLogEntry decode(MemorySegment data, long offset) {
        return new ErrorLogEntry(
                data.get(Fields.LONG, offset),
                Fields.unsignedShort(data, offset + 8),
                Fields.unsignedShort(data, offset + 10),
                Fields.unsignedShort(data, offset + 12) >>> 1,
                data.get(Fields.LONG, offset + 16),
                data.get(Fields.INT, offset + 24));
    }

    /** Encodes this entry into zeroed memory. */
    public void encode(MemorySegment data, long offset) {
        data.set(Fields.LONG, offset, count);
        Fields.putShort(data, offset + 8, submissionQueue);
        Fields.putShort(data, offset + 10, commandId);
        Fields.putShort(data, offset + 12, status << 1);
        data.set(Fields.LONG, offset + 16, block);
        data.set(Fields.INT, offset + 24, namespace);
    }
}
