package org.jrdma.nvme;

/**
 * A namespace of a drive: a range of blocks.
 *
 * @param id the id of the namespace, from 1
 * @param blocks the number of blocks
 * @param blockShift the base two logarithm of the size of a block
 */
public record NvmeNamespace(int id, long blocks, int blockShift) {

    /** Returns the size of a block in bytes. */
    public int blockBytes() {
        return 1 << blockShift;
    }

    /** Returns the size of the namespace in bytes. */
    public long bytes() {
        return blocks << blockShift;
    }
}
