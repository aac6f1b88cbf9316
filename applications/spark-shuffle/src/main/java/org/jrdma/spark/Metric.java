package org.jrdma.spark;

/** A metric of an executor. The names are part of the names in Spark's metrics system. */
enum Metric {
    /** The blocks that this executor has read by RDMA. */
    BLOCKS_READ("blocksRead", true),
    /** The bytes of these blocks. */
    BYTES_READ("bytesRead", true),
    /** The remote blocks that this executor has read with Spark's own client. */
    BLOCKS_BY_TCP("blocksByTcp", true),
    /** The bytes of these blocks. */
    BYTES_BY_TCP("bytesByTcp", true),
    /** The blocks that this executor has located for other executors. */
    BLOCKS_LOCATED("blocksLocated", true),
    /** The blocks that this executor could not offer, because of the limit or an error. */
    BLOCKS_REFUSED("blocksRefused", true),
    /** The map outputs that were registered. */
    REGISTRATIONS("registrations", true),
    /** The map outputs that were deregistered because of a limit or for locked memory. */
    EVICTIONS("evictions", true),
    /** The connections to other executors that have failed. */
    CONNECTION_FAILURES("connectionFailures", true),
    /** The map outputs that are registered now. */
    REGISTERED_FILES("registeredFiles", false),
    /** The bytes that are registered now, without those with on-demand paging. */
    REGISTERED_BYTES("registeredBytes", false),
    /** The bytes of registered buffers for blocks, in use or idle. */
    BUFFER_BYTES("bufferBytes", false),
    /** The bytes of the buffers in use. */
    BUFFER_BYTES_USED("bufferBytesUsed", false);

    private final String key;
    private final boolean isCounter;

    Metric(String key, boolean isCounter) {
        this.key = key;
        this.isCounter = isCounter;
    }

    /** The name in Spark's metrics system. */
    String key() {
        return key;
    }

    /** Returns true if the value never decreases, so that it remains valid after an executor. */
    boolean isCounter() {
        return isCounter;
    }
}
