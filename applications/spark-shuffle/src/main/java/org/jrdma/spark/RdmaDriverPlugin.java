package org.jrdma.spark;

import com.codahale.metrics.Gauge;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's part of the plug-in: selects the shuffle manager, knows the addresses of the
 * executors, and sums up their metrics. Uses no class of the RDMA libraries.
 */
final class RdmaDriverPlugin implements DriverPlugin {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaDriverPlugin.class);

    private static final String SPARK_VERSION = "4.2.";
    private static final String MANAGER = "spark.shuffle.manager";
    private static final String SORT = "sort";

    private final Map<String, DriverMessage.Listening> addresses = new ConcurrentHashMap<>();
    private final Map<String, Map<Metric, Long>> reports = new ConcurrentHashMap<>();

    /** Called before the shuffle manager is created, so that it can be selected here. */
    @Override
    public Map<String, String> init(SparkContext context, PluginContext plugin) {
        return init(context.version(), context.conf(), context::addSparkListener);
    }

    /**
     * @param listeners adds a listener to the application
     */
    Map<String, String> init(String version, SparkConf conf, Consumer<SparkListener> listeners) {
        if (!conf.getBoolean(ShuffleSettings.ENABLED, true)) {
            LOG.info("Shuffle blocks are not read by RDMA: {} is false", ShuffleSettings.ENABLED);
            return Map.of();
        }
        var objection = objection(version, conf);
        if (objection.isPresent()) {
            LOG.warn("Shuffle blocks are not read by RDMA: {}", objection.get());
            return Map.of();
        }
        conf.set(MANAGER, RdmaShuffleManager.class.getName());
        listeners.accept(
                new SparkListener() {
                    @Override
                    public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
                        forget(removed.executorId());
                    }
                });
        return Map.of(ChannelSettings.TOKEN, ChannelSettings.newToken());
    }

    /** Returns why the application cannot use RDMA; empty if it can. */
    private static Optional<String> objection(String version, SparkConf conf) {
        if (!version.startsWith(SPARK_VERSION)) {
            return Optional.of(
                    "This is Spark %s, but the plug-in is for Spark %sx. Use its artifact for this version of Spark."
                            .formatted(version, SPARK_VERSION));
        }
        var manager = conf.get(MANAGER, SORT);
        if (!manager.equals(SORT)) {
            return Optional.of(
                    "%s is %s. Remove this setting to use RDMA.".formatted(MANAGER, manager));
        }
        return UnprotectedTransferPolicy.objection(conf);
    }

    private void forget(String executor) {
        addresses.remove(executor);
        reports.computeIfPresent(executor, (_, values) -> withoutStates(values));
    }

    private static Map<Metric, Long> withoutStates(Map<Metric, Long> values) {
        var counters = new EnumMap<>(values);
        counters.keySet().removeIf(metric -> !metric.isCounter());
        return counters;
    }

    @Override
    public void registerMetrics(String application, PluginContext plugin) {
        for (var metric : Metric.values()) {
            plugin.metricRegistry().register(metric.key(), (Gauge<Long>) () -> total(metric));
        }
    }

    private long total(Metric metric) {
        return reports.values().stream().mapToLong(values -> values.getOrDefault(metric, 0L)).sum();
    }

    /** Returns null if no executor waits for the answer, because Spark would log a warning. */
    @Override
    public @Nullable Object receive(Object message) {
        switch (DriverMessage.decode((String) message)) {
            case DriverMessage.Listening listening -> {
                LOG.info(
                        "Executor {} offers its shuffle blocks at {}:{}",
                        listening.executor(),
                        listening.host(),
                        listening.port());
                addresses.put(listening.executor(), listening);
                return "";
            }
            case DriverMessage.Unavailable(var executor, var host, var reason) -> {
                addresses.remove(executor);
                LOG.warn(
                        "Executor {} on {} has no RDMA and uses TCP for shuffle blocks: {}",
                        executor,
                        host,
                        reason);
                return null;
            }
            case DriverMessage.Find(var executor) -> {
                var address = addresses.get(executor);
                return address == null ? "" : address.encode();
            }
            case DriverMessage.Report(var executor, var values) -> {
                reports.put(executor, values);
                return null;
            }
        }
    }

    @Override
    public void shutdown() {
        if (!reports.isEmpty()) {
            LOG.info(
                    "Executors have read {} blocks ({} bytes) by RDMA and {} blocks ({} bytes) over TCP",
                    total(Metric.BLOCKS_READ),
                    total(Metric.BYTES_READ),
                    total(Metric.BLOCKS_BY_TCP),
                    total(Metric.BYTES_BY_TCP));
        }
    }
}
