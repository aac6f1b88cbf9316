package org.jrdma.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * A Spark plug-in by which executors read shuffle blocks of each other by RDMA READ. An application
 * enables it with {@code spark.plugins=org.jrdma.spark.RdmaShufflePlugin}.
 *
 * <p>Executors without an RDMA device, and blocks that cannot be read by RDMA, use Spark's own
 * client.
 */
public final class RdmaShufflePlugin implements SparkPlugin {

    /** Creates the plug-in; called by Spark. */
    public RdmaShufflePlugin() {}

    @Override
    public DriverPlugin driverPlugin() {
        return new RdmaDriverPlugin();
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new RdmaExecutorPlugin();
    }
}
