package org.jrdma.spark;

import com.codahale.metrics.MetricRegistry;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.resource.ResourceInformation;

/** The plug-in context of an executor whose driver gives the same answer to all questions. */
class FakePluginContext implements PluginContext {

    volatile String answer = "";

    @Override
    public MetricRegistry metricRegistry() {
        return new MetricRegistry();
    }

    @Override
    public SparkConf conf() {
        return new SparkConf(false);
    }

    @Override
    public String executorID() {
        return "0";
    }

    @Override
    public String hostname() {
        return "localhost";
    }

    @Override
    public Map<String, ResourceInformation> resources() {
        return Map.of();
    }

    @Override
    public void send(Object message) {}

    @Override
    public Object ask(Object message) throws java.io.IOException {
        return answer;
    }
}
