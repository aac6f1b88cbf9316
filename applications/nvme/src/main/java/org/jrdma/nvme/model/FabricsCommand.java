package org.jrdma.nvme.model;

/**
 * The commands that only controllers on a network have. They share an opcode, and are valid on
 * admin queues and on I/O queues.
 */
public final class FabricsCommand {

    /** The opcode of all fabrics commands. */
    public static final int OPCODE = 0x7f;

    /** The type of the command that sets a property. */
    public static final int PROPERTY_SET = 0x00;

    /** The type of the command that makes a connection a queue of a controller. */
    public static final int CONNECT = 0x01;

    /** The type of the command that reads a property, which is a register of the controller. */
    public static final int PROPERTY_GET = 0x04;

    private static final int TYPE_MASK = 0xff;
    private static final int IS_LONG = 1;
    private static final int ATTRIBUTE_MASK = 7;

    private FabricsCommand() {}

    /** Returns the type of a command with the opcode {@link #OPCODE}. */
    public static int type(Command command) {
        return command.namespace() & TYPE_MASK;
    }

    private static Command of(int type) {
        return Command.admin(OPCODE).withNamespace(type);
    }

    /**
     * Returns a command that reads a property.
     *
     * @param offset the offset of the register
     * @param isLong true for 64 bits, false for 32
     */
    public static Command propertyGet(int offset, boolean isLong) {
        return of(PROPERTY_GET).withDwords(isLong ? IS_LONG : 0, offset, 0);
    }

    /**
     * Returns a command that sets a property of 32 bits.
     *
     * @param offset the offset of the register
     */
    public static Command propertySet(int offset, int value) {
        return of(PROPERTY_SET).withDwords(0, offset, value);
    }

    /** Returns true if a command reads or sets 64 bits. */
    public static boolean isLongProperty(Command command) {
        return (command.dword10() & ATTRIBUTE_MASK) == IS_LONG;
    }

    /** Returns the offset of the property that a command reads or sets. */
    public static int propertyOffset(Command command) {
        return command.dword11();
    }

    /** Returns the value that a command sets, of which 32 bits are used. */
    public static int propertyValue(Command command) {
        return command.dword12();
    }

    /**
     * The fields of a Connect command.
     *
     * @param format the format of the command and its data, 0
     * @param queueId the id of the queue, 0 for the admin queue
     * @param entries the number of entries of the queue, from 1 to 65,536
     * @param attributes attributes (CATTR), 0 for a queue with flow control
     * @param keepAliveMillis the time without a sign of life after which the controller ends; 0 for
     *     no limit. Only on the admin queue
     */
    public record Connect(
            int format, int queueId, int entries, int attributes, int keepAliveMillis) {

        /** Decodes the fields. */
        public static Connect decode(Command command) {
            return new Connect(
                    command.dword10() & 0xffff,
                    command.dword10() >>> 16,
                    (command.dword11() & 0xffff) + 1,
                    command.dword11() >>> 16 & 0xff,
                    command.dword12());
        }

        /** Encodes the fields as a command without data. */
        public Command encode() {
            return of(CONNECT)
                    .withDwords(
                            format | queueId << 16,
                            (entries - 1) | attributes << 16,
                            keepAliveMillis);
        }
    }
}
