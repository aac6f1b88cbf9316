package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;

/**
 * A command: an entry of a submission queue.
 *
 * @param opcode the opcode
 * @param flags fused operation in bits 0 and 1, and the kind of data pointer in bits 6 and 7
 * @param id the id that the completion returns, 16 bits
 * @param namespace the id of the namespace; 0 for none
 * @param prp1 the address of the data
 * @param prp2 the address of the second page of the data, or of a list of addresses
 * @param dword10 32 bits that depend on the command
 * @param dword11 32 bits that depend on the command
 * @param dword12 32 bits that depend on the command
 * @param dword13 32 bits that depend on the command
 * @param dword14 32 bits that depend on the command
 * @param dword15 32 bits that depend on the command
 */
public record Command(
        int opcode,
        int flags,
        int id,
        int namespace,
        long prp1,
        long prp2,
        int dword10,
        int dword11,
        int dword12,
        int dword13,
        int dword14,
        int dword15) {

    /** The size of a command in bytes. */
    public static final int BYTES = 64;

    /** The namespace id that means all namespaces. */
    public static final int ALL_NAMESPACES = 0xffff_ffff;

    /** The bit of dword 12 by which a write completes only when its blocks are durable (FUA). */
    public static final int FORCE_UNIT_ACCESS = 1 << 30;

    private static final int NAMESPACE = 4;
    private static final int PRP_1 = 24;
    private static final int PRP_2 = 32;
    private static final int DWORD_10 = 40;

    /** Returns an admin command with id 0 and without a namespace or data. */
    public static Command admin(int opcode) {
        return new Command(opcode, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    /** Returns a command for blocks with id 0 and without data. */
    public static Command blocks(int opcode, int namespace, long firstBlock, int blocks) {
        return new Command(
                opcode,
                0,
                0,
                namespace,
                0,
                0,
                (int) firstBlock,
                (int) (firstBlock >>> 32),
                blocks - 1,
                0,
                0,
                0);
    }

    /** Returns a copy with another id. */
    public Command withId(int newId) {
        return new Command(
                opcode, flags, newId, namespace, prp1, prp2, dword10, dword11, dword12, dword13,
                dword14, dword15);
    }

    /** Returns a copy with other flags. */
    public Command withFlags(int newFlags) {
        return new Command(
                opcode, newFlags, id, namespace, prp1, prp2, dword10, dword11, dword12, dword13,
                dword14, dword15);
    }

    /** Returns a copy with another namespace. */
    public Command withNamespace(int newNamespace) {
        return new Command(
                opcode,
                flags,
                id,
                newNamespace,
                prp1,
                prp2,
                dword10,
                dword11,
                dword12,
                dword13,
                dword14,
                dword15);
    }

    /** Returns a copy with other addresses of the data. */
    public Command withData(long newPrp1, long newPrp2) {
        return new Command(
                opcode, flags, id, namespace, newPrp1, newPrp2, dword10, dword11, dword12, dword13,
                dword14, dword15);
    }

    /** Returns a copy with other values of the first three dwords that depend on the command. */
    public Command withDwords(int newDword10, int newDword11, int newDword12) {
        return new Command(
                opcode,
                flags,
                id,
                namespace,
                prp1,
                prp2,
                newDword10,
                newDword11,
                newDword12,
                dword13,
                dword14,
                dword15);
    }

    /** Returns the first block of a command for blocks. */
    public long firstBlock() {
        return Integer.toUnsignedLong(dword10) | (long) dword11 << 32;
    }

    /** Returns the number of blocks of a command for blocks, from 1 to 65,536. */
    public int blocks() {
        return (dword12 & 0xffff) + 1;
    }

    /** Decodes a command. */
    public static Command decode(MemorySegment memory, long offset) {
        var first = memory.get(Fields.INT, offset);
        return new Command(
                first & 0xff,
                first >>> 8 & 0xff,
                first >>> 16,
                memory.get(Fields.INT, offset + NAMESPACE),
                memory.get(Fields.LONG, offset + PRP_1),
                memory.get(Fields.LONG, offset + PRP_2),
                memory.get(Fields.INT, offset + DWORD_10),
                memory.get(Fields.INT, offset + DWORD_10 + 4),
                memory.get(Fields.INT, offset + DWORD_10 + 8),
                memory.get(Fields.INT, offset + DWORD_10 + 12),
                memory.get(Fields.INT, offset + DWORD_10 + 16),
                memory.get(Fields.INT, offset + DWORD_10 + 20));
    }

    /** Encodes this command. */
    public void encode(MemorySegment memory, long offset) {
        encodeBlocks(memory, offset, opcode | flags << 8, id, namespace, prp1, prp2, 0, 0);
        memory.set(Fields.INT, offset + DWORD_10, dword10);
        memory.set(Fields.INT, offset + DWORD_10 + 4, dword11);
        memory.set(Fields.INT, offset + DWORD_10 + 8, dword12);
        memory.set(Fields.INT, offset + DWORD_10 + 12, dword13);
        memory.set(Fields.INT, offset + DWORD_10 + 16, dword14);
        memory.set(Fields.INT, offset + DWORD_10 + 20, dword15);
    }

    /** Encodes a command for blocks without creating an object. */
    public static void encodeBlocks(
            MemorySegment memory,
            long offset,
            int opcode,
            int id,
            int namespace,
            long prp1,
            long prp2,
            long firstBlock,
            int dword12) {
        memory.set(Fields.LONG, offset, opcode | (id & 0xffffL) << 16 | (long) namespace << 32);
        memory.set(Fields.LONG, offset + 8, 0);
        memory.set(Fields.LONG, offset + 16, 0);
        memory.set(Fields.LONG, offset + PRP_1, prp1);
        memory.set(Fields.LONG, offset + PRP_2, prp2);
        memory.set(Fields.LONG, offset + DWORD_10, firstBlock);
        memory.set(Fields.LONG, offset + DWORD_10 + 8, Integer.toUnsignedLong(dword12));
        memory.set(Fields.LONG, offset + DWORD_10 + 16, 0);
    }
}
