package org.jrdma.spark;

import java.util.Map;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.util.Utils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The executor's part of the plug-in: starts RDMA if it is possible, and reports metrics. */
final class RdmaExecutorPlugin implements ExecutorPlugin {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaExecutorPlugin.class);

    private final ShuffleMetrics metrics = new ShuffleMetrics();
    private @Nullable PluginContext plugin;
    private @Nullable RdmaExecutor executor;
    private Map<Metric, Long> reported = metrics.values();

    /** Called before the shuffle manager is created. */
    @Override
    public void init(PluginContext plugin, Map<String, String> fromDriver) {
        var token = fromDriver.get(ChannelSettings.TOKEN);
        if (token == null || plugin.executorID().equals("driver")) {
            return; // The driver uses stock Spark, or this is local mode without remote blocks.
        }
        this.plugin = plugin;
        try {
            executor = RdmaExecutor.start(plugin, metrics, ChannelSettings.of(token));
        } catch (Exception | LinkageError e) {
            LOG.warn("This executor has no RDMA and uses TCP for shuffle blocks", e);
            reportUnavailable(e);
            return;
        }
        metrics.register(plugin.metricRegistry());
        RdmaShuffleManager.use(executor);
    }

    /** Reports to the driver, whose log users read first, that this executor has no RDMA. */
    private void reportUnavailable(Throwable cause) {
        try {
            // Spark does not know the name of the host in the context of executors.
            var message =
                    new DriverMessage.Unavailable(
                            plugin.executorID(), Utils.localHostName(), cause.toString());
            plugin.send(message.encode());
        } catch (Exception e) {
            LOG.debug("Cannot report to the driver that there is no RDMA", e);
        }
    }

    @Override
    public void onTaskSucceeded() {
        taskEnded();
    }

    @Override
    public void onTaskFailed(TaskFailedReason reason) {
        taskEnded();
    }

    private void taskEnded() {
        if (executor != null) {
            executor.taskEnded();
            report();
        }
    }

    /** Sends the metrics to the driver if they have changed. */
    private synchronized void report() {
        var values = metrics.values();
        if (values.equals(reported)) {
            return;
        }
        try {
            plugin.send(new DriverMessage.Report(plugin.executorID(), values).encode());
            reported = values;
        } catch (Exception e) {
            LOG.debug("Cannot report metrics to the driver", e);
        }
    }

    @Override
    public void shutdown() {
        if (executor != null) {
            RdmaShuffleManager.use(null);
            LOG.info("Stopping RDMA: {}", metrics);
            executor.close();
        }
    }
}
