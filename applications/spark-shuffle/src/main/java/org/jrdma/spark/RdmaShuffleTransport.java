package org.jrdma.spark;

import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * The RDMA part of this executor, as the shuffle manager sees it. No type of the RDMA libraries
 * appears here, because the shuffle manager also runs on the driver, which may lack the libraries.
 */
interface RdmaShuffleTransport {

    /** Returns a client that reads by RDMA if possible, and with {@code stock} otherwise. */
    BlockStoreClient client(BlockStoreClient stock);

    /**
     * The maximum length of a block that is read into memory. Longer blocks are read into files.
     */
    long maxBlockBytesInMemory();

    /** Deregisters the map outputs of a shuffle whose files have been deleted. */
    void forget(int shuffle);
}
