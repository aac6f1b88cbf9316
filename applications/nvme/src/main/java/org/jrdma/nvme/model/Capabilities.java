package org.jrdma.nvme.model;

/**
 * The capabilities of a controller: the register CAP.
 *
 * @param maxQueueEntries the largest number of entries of an I/O queue, 2 to 65,536 (MQES + 1)
 * @param contiguousQueues true if the memory of a queue must be contiguous (CQR)
 * @param timeoutMillis the longest time that a controller takes to become ready (TO)
 * @param doorbellStride the distance between two doorbells in bytes (DSTRD)
 * @param nvmCommands true if the controller has the NVM command set (CSS)
 * @param minPageShift the base two logarithm of the smallest page size (MPSMIN)
 * @param maxPageShift the base two logarithm of the largest page size (MPSMAX)
 */
public record Capabilities(
        int maxQueueEntries,
        boolean contiguousQueues,
        int timeoutMillis,
        int doorbellStride,
        boolean nvmCommands,
        int minPageShift,
        int maxPageShift) {

    private static final int TIMEOUT_UNIT_MILLIS = 500;
    private static final int SMALLEST_STRIDE = 4;

    /** Decodes the register. */
    public static Capabilities decode(long register) {
        return new Capabilities(
                (int) (register & 0xffff) + 1,
                (register >>> 16 & 1) != 0,
                (int) (register >>> 24 & 0xff) * TIMEOUT_UNIT_MILLIS,
                SMALLEST_STRIDE << (register >>> 32 & 0xf),
                (register >>> 37 & 1) != 0,
                (int) (register >>> 48 & 0xf) + Configuration.PAGE_SHIFT,
                (int) (register >>> 52 & 0xf) + Configuration.PAGE_SHIFT);
    }

    /** Encodes the register. */
    public long encode() {
        return (maxQueueEntries - 1L)
                | (contiguousQueues ? 1L << 16 : 0)
                | (long) (timeoutMillis / TIMEOUT_UNIT_MILLIS) << 24
                | (long) Integer.numberOfTrailingZeros(doorbellStride / SMALLEST_STRIDE) << 32
                | (nvmCommands ? 1L << 37 : 0)
                | (long) (minPageShift - Configuration.PAGE_SHIFT) << 48
                | (long) (maxPageShift - Configuration.PAGE_SHIFT) << 52;
    }
}
