package org.jrdma.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.jspecify.annotations.Nullable;

/**
 * Spark's sort-based shuffle, whose readers use RDMA on executors that have a device. {@link
 * RdmaShufflePlugin} selects this class; users do not name it.
 */
public final class RdmaShuffleManager extends SortShuffleManager {

    private static volatile @Nullable RdmaShuffleTransport transport;

    private @Nullable BlockStoreClient client;

    /** Creates the shuffle manager of the driver or of an executor. */
    public RdmaShuffleManager(SparkConf conf) {
        super(conf);
    }

    /** Sets the transport of this executor; null if it has none. */
    static void use(@Nullable RdmaShuffleTransport started) {
        transport = started;
    }

    @Override
    public <K, C> ShuffleReader<K, C> getReader(
            ShuffleHandle handle,
            int startMapIndex,
            int endMapIndex,
            int startPartition,
            int endPartition,
            TaskContext context,
            ShuffleReadMetricsReporter metrics) {
        @SuppressWarnings("unchecked") // As in SortShuffleManager.
        var baseHandle = (BaseShuffleHandle<K, ?, C>) handle;
        var rdma = transport;
        // Merged blocks are read from the external shuffle service, which has no RDMA.
        if (rdma == null || baseHandle.dependency().isShuffleMergeFinalizedMarked()) {
            return super.getReader(
                    handle,
                    startMapIndex,
                    endMapIndex,
                    startPartition,
                    endPartition,
                    context,
                    metrics);
        }
        var blocks =
                SparkEnv.get()
                        .mapOutputTracker()
                        .getMapSizesByExecutorId(
                                handle.shuffleId(),
                                startMapIndex,
                                endMapIndex,
                                startPartition,
                                endPartition);
        var mayBatch = SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context);
        return new RdmaShuffleReader<>(
                baseHandle,
                blocks,
                context,
                metrics,
                client(rdma),
                rdma.maxBlockBytesInMemory(),
                mayBatch);
    }

    private synchronized BlockStoreClient client(RdmaShuffleTransport rdma) {
        if (client == null) {
            client = rdma.client(SparkEnv.get().blockManager().blockStoreClient());
        }
        return client;
    }

    @Override
    public boolean unregisterShuffle(int shuffle) {
        var result = super.unregisterShuffle(shuffle);
        var rdma = transport;
        if (rdma != null) {
            rdma.forget(shuffle); // After the files were deleted: none is registered again.
        }
        return result;
    }
}
