package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jrdma.nvme.model.Configuration;

/**
 * The reply of the {@link SharedControllerManager} to a request: a record of 4,108 bytes in
 * big-endian order, with the outcome, the value, the number of bytes of data, and the data.
 *
 * @param outcome 0 if the request succeeded; the status of the command that failed; or -1 if the
 *     controller failed
 * @param value the id of a queue pair that was created, otherwise 0
 * @param data the page that was read; if the request failed, the message
 */
record ManagerReply(int outcome, int value, MemorySegment data) {

    /** The size of the record in bytes. */
    static final int BYTES = 3 * Integer.BYTES + Configuration.PAGE_BYTES;

    private static final int CONTROLLER_FAILED = -1;

    static ManagerReply of(int value) {
        return new ManagerReply(0, value, MemorySegment.NULL);
    }

    static ManagerReply of(MemorySegment page) {
        return new ManagerReply(0, 0, page);
    }

    /** Returns the reply for a request that failed. */
    static ManagerReply failure(String message, int status) {
        var text = message.getBytes(UTF_8);
        return new ManagerReply(
                status == 0 ? CONTROLLER_FAILED : status,
                0,
                MemorySegment.ofArray(text)
                        .asSlice(0, Math.min(text.length, Configuration.PAGE_BYTES)));
    }

    /** Throws an exception if the request failed. */
    void requireSuccess() throws NvmeException {
        if (outcome != 0) {
            var message = new String(data.toArray(JAVA_BYTE), UTF_8);
            throw outcome == CONTROLLER_FAILED
                    ? new NvmeException(message)
                    : new NvmeException(message, outcome);
        }
    }

    void encode(ByteBuffer target) {
        var bytes = data.toArray(JAVA_BYTE);
        target.putInt(outcome).putInt(value).putInt(bytes.length);
        target.put(Arrays.copyOf(bytes, Configuration.PAGE_BYTES));
    }

    /** Decodes a reply. */
    static ManagerReply decode(ByteBuffer source) throws NvmeException {
        var outcome = source.getInt();
        var value = source.getInt();
        var length = source.getInt();
        if (length < 0 || length > Configuration.PAGE_BYTES) {
            throw new NvmeException(
                    "The manager sent a malformed reply with %d bytes of data. Is the program at its address a manager?"
                            .formatted(length));
        }
        var data = new byte[length];
        source.get(data);
        return new ManagerReply(outcome, value, MemorySegment.ofArray(data));
    }
}
