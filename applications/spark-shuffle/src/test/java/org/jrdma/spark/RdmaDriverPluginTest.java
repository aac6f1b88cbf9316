package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.junit.jupiter.api.Test;

class RdmaDriverPluginTest {

    private static final String VERSION = "4.2.0";
    private static final String MANAGER = "spark.shuffle.manager";

    private final SparkConf conf = new SparkConf(false);
    private final List<SparkListener> listeners = new ArrayList<>();
    private final RdmaDriverPlugin driver = new RdmaDriverPlugin();

    private Map<String, String> init(String version) {
        return driver.init(version, conf, listeners::add);
    }

    private void remove(String executor) {
        listeners.forEach(listener ->
                listener.onExecutorRemoved(
                        new SparkListenerExecutorRemoved(0, executor, "killed")));
    }

    @Test
    void shouldSelectTheShuffleManagerAndCreateATokenForTheExecutors() {
        var settings = init(VERSION);

        assertThat(conf.get(MANAGER)).isEqualTo(RdmaShuffleManager.class.getName());
        assertThat(settings).containsOnlyKeys(ChannelSettings.TOKEN);
        assertThat(new RdmaDriverPlugin().init(VERSION, new SparkConf(false), listeners::add))
                .isNotEqualTo(settings);
    }

    @Test
    void shouldLeaveAnApplicationThatDisablesThePluginToStockSpark() {
        conf.set(ShuffleSettings.ENABLED, "false");

        shouldLeaveTheApplicationToStockSpark(VERSION);
    }

    @Test
    void shouldLeaveAnotherVersionOfSparkToStockSparkWithAWarning() {
        try (var log = new CapturedLog(RdmaDriverPlugin.class)) {
            shouldLeaveTheApplicationToStockSpark("4.3.0");

            assertThat(log.warnings()).singleElement().asString().contains("4.3.0", "4.2.x");
        }
    }

    @Test
    void shouldLeaveProtectedConnectionsToStockSparkWithAWarning() {
        conf.set("spark.authenticate", "true");
        try (var log = new CapturedLog(RdmaDriverPlugin.class)) {
            shouldLeaveTheApplicationToStockSpark(VERSION);

            assertThat(log.warnings()).singleElement().asString().contains("spark.authenticate");
        }
    }

    private void shouldLeaveTheApplicationToStockSpark(String version) {
        assertThat(init(version)).isEmpty();
        assertThat(conf.contains(MANAGER)).isFalse();
        assertThat(listeners).isEmpty();
    }

    @Test
    void shouldKeepAShuffleManagerThatTheUserHasSelected() {
        conf.set(MANAGER, "org.example.Manager");

        assertThat(init(VERSION)).isEmpty();
        assertThat(conf.get(MANAGER)).isEqualTo("org.example.Manager");
    }

    @Test
    void shouldForgetTheAddressOfAnExecutorThatWasRemoved() {
        init(VERSION);
        var first = new DriverMessage.Listening("1", "192.0.2.1", 4791);
        var second = new DriverMessage.Listening("2", "192.0.2.2", 4791);
        driver.receive(first.encode());
        driver.receive(second.encode());
        assertThat(find("1")).isEqualTo(first.encode());

        remove("1");

        assertThat(find("1")).isEqualTo("");
        assertThat(find("2")).isEqualTo(second.encode());
    }

    @Test
    void shouldForgetTheAddressOfAnExecutorThatCannotUseRdmaAnyMore() {
        init(VERSION);
        driver.receive(new DriverMessage.Listening("1", "192.0.2.1", 4791).encode());

        driver.receive(new DriverMessage.Unavailable("1", "host1", "no device").encode());

        assertThat(find("1")).isEqualTo("");
    }

    private Object find(String executor) {
        return driver.receive(new DriverMessage.Find(executor).encode());
    }

    @Test
    void shouldSumUpMetricsAndKeepOnlyTheCountersOfAnExecutorThatWasRemoved() {
        init(VERSION);
        var registry = new MetricRegistry();
        driver.registerMetrics("application", FakePluginContext.of(registry));
        report("1", 1, 100);
        report("1", 2, 200);
        report("2", 3, 50);
        assertThat(value(registry, Metric.BLOCKS_READ)).isEqualTo(5);
        assertThat(value(registry, Metric.REGISTERED_BYTES)).isEqualTo(250);

        remove("1");

        assertThat(value(registry, Metric.BLOCKS_READ)).isEqualTo(5);
        assertThat(value(registry, Metric.REGISTERED_BYTES)).isEqualTo(50);
    }

    private void report(String executor, long blocksRead, long registeredBytes) {
        var values =
                Map.of(Metric.BLOCKS_READ, blocksRead, Metric.REGISTERED_BYTES, registeredBytes);
        assertThat(driver.receive(new DriverMessage.Report(executor, values).encode())).isNull();
    }

    private static Long value(MetricRegistry registry, Metric metric) {
        return (Long) ((Gauge<?>) registry.getGauges().get(metric.key())).getValue();
    }

    @Test
    void shouldWarnOnceAboutAnExecutorWithoutRdma() {
        init(VERSION);
        var executor = new RdmaExecutorPlugin();
        try (var log = new CapturedLog(RdmaDriverPlugin.class)) {
            executor.init(
                    FakePluginContext.of("7", driver, "spark.jrdma.shuffle.device", "missing0"),
                    Map.of(ChannelSettings.TOKEN, ChannelSettings.newToken()));

            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .contains("Executor 7 on ", "missing0");
        }
        assertThat(find("7")).isEqualTo("");
    }
}
