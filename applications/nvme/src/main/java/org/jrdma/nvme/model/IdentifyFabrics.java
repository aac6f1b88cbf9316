package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;

/**
 * The fields of {@link IdentifyController} that only controllers on a network have.
 *
 * @param controllerType the type of the controller, such as {@link #IO_CONTROLLER}
 * @param keepAliveGranularity the unit of the keep-alive timeout in 100 ms (KAS)
 * @param maxCommands the number of commands that a queue can have (MAXCMD)
 * @param sglSupport the supported descriptors of data (SGLS)
 * @param commandCapsuleBytes the size of the capsule of a command of an I/O queue (IOCCSZ)
 * @param responseCapsuleBytes the size of the capsule of a response of an I/O queue (IORCSZ)
 * @param dataOffset the offset of data in the capsule after the command in bytes (ICDOFF)
 * @param maxDescriptors the number of descriptors of data of a command (MSDBD)
 */
public record IdentifyFabrics(
        int controllerType,
        int keepAliveGranularity,
        int maxCommands,
        int sglSupport,
        int commandCapsuleBytes,
        int responseCapsuleBytes,
        int dataOffset,
        int maxDescriptors) {

    /** The type of a controller with I/O queues. */
    public static final int IO_CONTROLLER = 1;

    /** The type of the controller of the discovery subsystem. */
    public static final int DISCOVERY_CONTROLLER = 2;

    /** SGLs of any alignment, keyed descriptors, and offsets of data in capsules. */
    public static final int KEYED_AND_IN_CAPSULE = 1 | 1 << 2 | 1 << 20;

    private static final int UNIT_BYTES = 16;
    private static final int CONTROLLER_TYPE = 111;
    private static final int KEEP_ALIVE = 320;
    private static final int MAX_COMMANDS = 514;
    private static final int SGL_SUPPORT = 536;
    private static final int COMMAND_CAPSULE = 1792;
    private static final int RESPONSE_CAPSULE = 1796;
    private static final int DATA_OFFSET = 1800;
    private static final int MAX_DESCRIPTORS = 1803;

    /** The largest size of a capsule that a controller can state; larger ones are truncated. */
    private static final int MAX_UNITS = 1 << 16;

    /** Decodes the fields from the description of a controller. */
    public static IdentifyFabrics decode(MemorySegment data) {
        return new IdentifyFabrics(
                Fields.unsignedByte(data, CONTROLLER_TYPE),
                Fields.unsignedShort(data, KEEP_ALIVE),
                Fields.unsignedShort(data, MAX_COMMANDS),
                data.get(Fields.INT, SGL_SUPPORT),
                units(data, COMMAND_CAPSULE),
                units(data, RESPONSE_CAPSULE),
                Fields.unsignedShort(data, DATA_OFFSET) * UNIT_BYTES,
                Fields.unsignedByte(data, MAX_DESCRIPTORS));
    }

    private static int units(MemorySegment data, long offset) {
        return (int) Math.min(Integer.toUnsignedLong(data.get(Fields.INT, offset)), MAX_UNITS)
                * UNIT_BYTES;
    }

    /** Encodes the fields into the description of a controller. */
    public void encode(MemorySegment data) {
        Fields.putByte(data, CONTROLLER_TYPE, controllerType);
        Fields.putShort(data, KEEP_ALIVE, keepAliveGranularity);
        Fields.putShort(data, MAX_COMMANDS, maxCommands);
        data.set(Fields.INT, SGL_SUPPORT, sglSupport);
        data.set(Fields.INT, COMMAND_CAPSULE, commandCapsuleBytes / UNIT_BYTES);
        data.set(Fields.INT, RESPONSE_CAPSULE, responseCapsuleBytes / UNIT_BYTES);
        Fields.putShort(data, DATA_OFFSET, dataOffset / UNIT_BYTES);
        Fields.putByte(data, MAX_DESCRIPTORS, maxDescriptors);
    }
}
