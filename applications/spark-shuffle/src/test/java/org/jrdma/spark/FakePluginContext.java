package org.jrdma.spark;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.resource.ResourceInformation;

/** The plug-in context of an executor whose driver gives the same answer to all questions. */
class FakePluginContext implements PluginContext {

    volatile String answer = "";

    private final String executor;
    private final SparkConf conf = new SparkConf(false);
    private final MetricRegistry registry;

    FakePluginContext() {
        this("0", new MetricRegistry());
    }

    private FakePluginContext(String executor, MetricRegistry registry) {
        this.executor = executor;
        this.registry = registry;
    }

    /** Returns a context whose metrics are in a registry. */
    static FakePluginContext of(MetricRegistry registry) {
        return new FakePluginContext("0", registry);
    }

    /**
     * Returns the context of an executor whose messages a driver receives.
     *
     * @param settings names and values in turn
     */
    static FakePluginContext of(String executor, DriverPlugin driver, String... settings) {
        var context =
                new FakePluginContext(executor, new MetricRegistry()) {
                    @Override
                    public void send(Object message) throws IOException {
                        ask(message);
                    }

                    @Override
                    public Object ask(Object message) throws IOException {
                        try {
                            return driver.receive(message);
                        } catch (Exception e) {
                            throw new IOException(e);
                        }
                    }
                };
        for (var i = 0; i < settings.length; i += 2) {
            context.conf().set(settings[i], settings[i + 1]);
        }
        return context;
    }

    @Override
    public MetricRegistry metricRegistry() {
        return registry;
    }

    @Override
    public SparkConf conf() {
        return conf;
    }

    @Override
    public String executorID() {
        return executor;
    }

    @Override
    public String hostname() {
        throw new NullPointerException("Spark does not know the address of an executor");
    }

    @Override
    public Map<String, ResourceInformation> resources() {
        return Map.of();
    }

    @Override
    public void send(Object message) throws IOException {}

    @Override
    public Object ask(Object message) throws IOException {
        return answer;
    }
}
