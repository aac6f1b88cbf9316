package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;

/**
 * A completion: an entry of a completion queue. Its last dword contains the phase bit, which a
 * controller inverts at each wrap of the queue, so that a driver detects a new entry.
 *
 * @param result 32 bits that depend on the command
 * @param submissionHead the head of the submission queue: the next entry to be fetched
 * @param submissionQueue the id of the submission queue
 * @param commandId the id of the command
 * @param phase the phase bit
 * @param status the status in 15 bits, which {@link Status} describes
 */
public record Completion(
        int result, int submissionHead, int submissionQueue, int commandId, int phase, int status) {

    /** The size of a completion in bytes. */
    public static final int BYTES = 16;

    /** The offset of the dword that contains the id, the phase and the status. */
    public static final int LAST_DWORD = 12;

    /** Decodes a completion. */
    public static Completion decode(MemorySegment memory, long offset) {
        var queue = memory.get(Fields.INT, offset + 8);
        var last = memory.get(Fields.INT, offset + LAST_DWORD);
        return new Completion(
                memory.get(Fields.INT, offset),
                queue & 0xffff,
                queue >>> 16,
                commandId(last),
                phase(last),
                status(last));
    }

    /** Returns a copy with another phase bit. */
    public Completion withPhase(int newPhase) {
        return new Completion(result, submissionHead, submissionQueue, commandId, newPhase, status);
    }

    /** Encodes this completion. */
    public void encode(MemorySegment memory, long offset) {
        memory.set(Fields.INT, offset, result);
        memory.set(Fields.INT, offset + 4, 0);
        memory.set(Fields.INT, offset + 8, (submissionHead & 0xffff) | submissionQueue << 16);
        memory.set(
                Fields.INT,
                offset + LAST_DWORD,
                (commandId & 0xffff) | (phase & 1) << 16 | status << 17);
    }

    /** Returns the id of the command from the last dword. */
    public static int commandId(int lastDword) {
        return lastDword & 0xffff;
    }

    /** Returns the phase bit from the last dword. */
    public static int phase(int lastDword) {
        return lastDword >>> 16 & 1;
    }

    /** Returns the status from the last dword. */
    public static int status(int lastDword) {
        return lastDword >>> 17;
    }
}
