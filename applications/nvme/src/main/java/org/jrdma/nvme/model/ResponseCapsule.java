package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;

/**
 * The response to a command on a network: a {@link Completion} with a result of 64 bits and without
 * a phase bit.
 *
 * @param result 64 bits that depend on the command
 * @param submissionHead the head of the submission queue
 * @param queueId the id of the queue
 * @param commandId the id of the command
 * @param status the status in 15 bits, which {@link Status} describes
 */
public record ResponseCapsule(
        long result, int submissionHead, int queueId, int commandId, int status) {

    /** The size in bytes. */
    public static final int BYTES = Completion.BYTES;

    /** Decodes a response. */
    public static ResponseCapsule decode(MemorySegment memory, long offset) {
        var completion = Completion.decode(memory, offset);
        return new ResponseCapsule(
                memory.get(Fields.LONG, offset),
                completion.submissionHead(),
                completion.submissionQueue(),
                completion.commandId(),
                completion.status());
    }

    /** Encodes this response. */
    public void encode(MemorySegment memory, long offset) {
        new Completion(0, submissionHead, queueId, commandId, 0, status).encode(memory, offset);
        memory.set(Fields.LONG, offset, result);
    }

    /** Returns the dword that contains the id and the status, without creating an object. */
    public static int lastDword(MemorySegment memory, long offset) {
        return memory.get(Fields.INT, offset + Completion.LAST_DWORD);
    }
}
