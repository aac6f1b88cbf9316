package org.jrdma.spark;

import java.util.Optional;

/**
 * The blocks that the tasks of an application have read from other executors.
 *
 * @param blocks the number of blocks on all paths, as counted by Spark
 * @param bytes the bytes of these blocks
 * @param rdmaBlocks the number of blocks that the executors have read by RDMA
 * @param rdmaBytes the bytes of the blocks that were read by RDMA
 */
record RdmaReadCountComparison(long blocks, long bytes, long rdmaBlocks, long rdmaBytes) {

    /** Returns why these reads do not prove that RDMA works; empty if they do. */
    Optional<String> objection() {
        if (blocks == 0) {
            return Optional.of(
                    "No executor has read a block of another executor. The check requires two executors that do not read each other's files: if they are on one machine, set spark.shuffle.readHostLocalDisk=false. If an executor has no RDMA, a warning above names it.");
        }
        if (rdmaBlocks == blocks && rdmaBytes == bytes) {
            return Optional.empty();
        }
        return Optional.of(
                "Spark counts %d remote blocks (%d bytes), but %d blocks (%d bytes) were read by RDMA. Warnings in the logs of the driver and of the executors state the cause."
                        .formatted(blocks, bytes, rdmaBlocks, rdmaBytes));
    }

    @Override
    public String toString() {
        return "Remote blocks: %d by RDMA (%d bytes), %d over TCP."
                .formatted(rdmaBlocks, rdmaBytes, Math.max(0, blocks - rdmaBlocks));
    }
}
