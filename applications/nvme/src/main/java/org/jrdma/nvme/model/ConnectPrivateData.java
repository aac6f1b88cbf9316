package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * The private data of the request for an RDMA connection, which becomes one queue.
 *
 * @param format the format of the private data, 0
 * @param queueId the id of the queue, 0 for the admin queue
 * @param receives the number of responses for which the host has posted receives (HRQSIZE)
 * @param commands the number of commands that the host can have sent, from 1 (HSQSIZE + 1)
 * @param controllerId the id of the controller of an I/O queue; 0 for the admin queue
 */
public record ConnectPrivateData(
        int format, int queueId, int receives, int commands, int controllerId) {

    /** The size in bytes. */
    public static final int BYTES = 32;

    /** The number of entries of every admin queue. */
    public static final int ADMIN_ENTRIES = 32;

    /** Decodes private data, which may be padded; empty if it is too short. */
    public static Optional<ConnectPrivateData> decode(byte... privateData) {
        if (privateData.length < BYTES) {
            return Optional.empty();
        }
        var data = MemorySegment.ofArray(privateData);
        return Optional.of(
                new ConnectPrivateData(
                        Fields.unsignedShort(data, 0),
                        Fields.unsignedShort(data, 2),
                        Fields.unsignedShort(data, 4),
                        Fields.unsignedShort(data, 6) + 1,
                        Fields.unsignedShort(data, 8)));
    }

    /** Encodes the private data. */
    public byte[] encode() {
        var bytes = new byte[BYTES];
        var data = MemorySegment.ofArray(bytes);
        Fields.putShort(data, 0, format);
        Fields.putShort(data, 2, queueId);
        Fields.putShort(data, 4, receives);
        Fields.putShort(data, 6, commands - 1);
        Fields.putShort(data, 8, controllerId);
        return bytes;
    }

    /**
     * Encodes the private data of the acceptance.
     *
     * @param receives the number of commands for which the controller has posted receives (CRQSIZE)
     */
    public static byte[] encodeAcceptance(int receives) {
        var bytes = new byte[BYTES];
        Fields.putShort(MemorySegment.ofArray(bytes), 2, receives);
        return bytes;
    }
}
