package org.jrdma.nvme.model;

/** The opcodes of the I/O commands of the NVM command set. */
public final class IoOpcode {

    /** Makes earlier writes durable. */
    public static final int FLUSH = 0x00;

    /** Writes blocks. */
    public static final int WRITE = 0x01;

    /** Reads blocks. */
    public static final int READ = 0x02;

    /** Sets blocks to zero. */
    public static final int WRITE_ZEROES = 0x08;

    /** Describes the use of ranges of blocks, such as that their contents are not needed. */
    public static final int DATASET_MANAGEMENT = 0x09;

    /** Registers a key of a host for reservations. */
    public static final int RESERVATION_REGISTER = 0x0d;

    /** Reads the registrants and the reservation of a namespace. */
    public static final int RESERVATION_REPORT = 0x0e;

    /** Acquires or preempts a reservation. */
    public static final int RESERVATION_ACQUIRE = 0x11;

    /** Releases or clears a reservation. */
    public static final int RESERVATION_RELEASE = 0x15;

    private IoOpcode() {}

    /** Returns true if the host sends data with a command. */
    public static boolean isToController(int opcode) {
        return (opcode & 3) == 1;
    }

    /** Returns the name of an opcode for messages. */
    public static String name(int opcode) {
        return switch (opcode) {
            case FLUSH -> "flush";
            case WRITE -> "write";
            case READ -> "read";
            case WRITE_ZEROES -> "write zeroes";
            case DATASET_MANAGEMENT -> "dataset management";
            case RESERVATION_REGISTER -> "reservation register";
            case RESERVATION_REPORT -> "reservation report";
            case RESERVATION_ACQUIRE -> "reservation acquire";
            case RESERVATION_RELEASE -> "reservation release";
            default -> "command 0x%02x".formatted(opcode);
        };
    }
}
