package org.jrdma.spark;

import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/** Counts the blocks that Spark's own client reads, and passes them to the task. */
final class TcpReadCounter implements BlockFetchingListener {

    private final BlockFetchingListener task;
    private final ShuffleMetrics metrics;

    TcpReadCounter(BlockFetchingListener task, ShuffleMetrics metrics) {
        this.task = task;
        this.metrics = metrics;
    }

    @Override
    public void onBlockFetchSuccess(String name, ManagedBuffer content) {
        metrics.add(Metric.BLOCKS_BY_TCP, 1);
        metrics.add(Metric.BYTES_BY_TCP, content.size());
        task.onBlockFetchSuccess(name, content);
    }

    @Override
    public void onBlockFetchFailure(String name, Throwable cause) {
        task.onBlockFetchFailure(name, cause);
    }
}
