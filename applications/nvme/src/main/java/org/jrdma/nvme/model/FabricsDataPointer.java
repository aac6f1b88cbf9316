package org.jrdma.nvme.model;

/**
 * The descriptor of the data of a command on a network: one SGL descriptor in place of the two PRP
 * entries.
 *
 * @param kind the type and subtype, such as {@link #KEYED}
 * @param address the address of the data in the memory of the host, or the offset of the data in
 *     the capsule
 * @param length the number of bytes
 * @param key the remote key of the memory of the host; 0 for data in the capsule
 */
public record FabricsDataPointer(int kind, long address, int length, int key) {

    /** Data in the memory of the host, which the controller accesses by RDMA. */
    public static final int KEYED = 0x40;

    /** Data as for {@link #KEYED}, whose key the controller may invalidate with its response. */
    public static final int KEYED_INVALIDATING = 0x4f;

    /** Data in the capsule of the command. */
    public static final int IN_CAPSULE = 0x01;

    /** The flags of a command with a data pointer of this type. */
    public static final int FLAGS = 0x40;

    /** The largest length of keyed data. */
    public static final int MAX_KEYED_BYTES = (1 << 24) - 1;

    private static final int KEY_SHIFT = 24;
    private static final int KIND_SHIFT = 56;

    /** Decodes the data pointer of a command. */
    public static FabricsDataPointer decode(Command command) {
        var second = command.prp2();
        var kind = (int) (second >>> KIND_SHIFT);
        return kind == IN_CAPSULE
                ? new FabricsDataPointer(kind, command.prp1(), (int) second, 0)
                : new FabricsDataPointer(
                        kind,
                        command.prp1(),
                        (int) second & MAX_KEYED_BYTES,
                        (int) (second >>> KEY_SHIFT));
    }

    /** Returns a copy of a command with this data pointer. */
    public Command encode(Command command) {
        var second = kind == IN_CAPSULE ? inCapsule(length) : keyed(kind, length, key);
        return command.withFlags(FLAGS).withData(address, second);
    }

    /** Returns the second 8 bytes of a pointer to data in the memory of the host. */
    public static long keyed(int length, int key) {
        return keyed(KEYED, length, key);
    }

    private static long keyed(int kind, int length, int key) {
        return length | (key & 0xffff_ffffL) << KEY_SHIFT | (long) kind << KIND_SHIFT;
    }

    /** Returns the second 8 bytes of a pointer to data in the capsule. */
    public static long inCapsule(int length) {
        return Integer.toUnsignedLong(length) | (long) IN_CAPSULE << KIND_SHIFT;
    }
}
