package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;

/**
 * The reason for which a target rejects an RDMA connection, in the private data of the rejection.
 */
public enum RdmaConnectRejection {
    /** The private data of the request are too short. */
    INVALID_LENGTH(1, "the private data have an invalid length"),
    /** The format of the request is unknown. */
    INVALID_FORMAT(2, "the format of the private data is unknown"),
    /** The id of the queue is invalid. */
    INVALID_QUEUE_ID(3, "the id of the queue is invalid"),
    /** The number of commands is invalid. */
    INVALID_COMMANDS(4, "the number of commands of the queue (HSQSIZE) is invalid"),
    /** The number of receives is invalid. */
    INVALID_RECEIVES(5, "the number of receives of the queue (HRQSIZE) is invalid"),
    /** The target has no resources left. */
    NO_RESOURCES(6, "the target has no resources left"),
    /** The number of reads that the host can issue is invalid. */
    INVALID_INITIATOR_READS(7, "the number of reads of the initiator (IRD) is invalid"),
    /** The number of reads that the host can serve is invalid. */
    INVALID_RESPONDER_READS(8, "the number of reads of the responder (ORD) is invalid"),
    /** The id of the controller is invalid. */
    INVALID_CONTROLLER(9, "the id of the controller is invalid");

    private static final int BYTES = 4;

    private final int code;
    private final String words;

    RdmaConnectRejection(int code, String words) {
        this.code = code;
        this.words = words;
    }

    /** Returns the reason as the end of a sentence. */
    public String words() {
        return words;
    }

    /** Decodes private data; empty if they are malformed or the reason is unknown. */
    public static Optional<RdmaConnectRejection> decode(byte... privateData) {
        if (privateData.length < BYTES) {
            return Optional.empty();
        }
        var data = MemorySegment.ofArray(privateData);
        var code = Fields.unsignedShort(data, 2);
        return Fields.unsignedShort(data, 0) != 0
                ? Optional.empty()
                : Arrays.stream(values()).filter(each -> each.code == code).findFirst();
    }

    /** Encodes the private data. */
    public byte[] encode() {
        var bytes = new byte[BYTES];
        Fields.putShort(MemorySegment.ofArray(bytes), 2, code);
        return bytes;
    }
}
