package org.jrdma.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** The metrics of this executor. Safe for use by multiple threads. */
final class ShuffleMetrics {

    private final Map<Metric, LongAdder> counters = new EnumMap<>(Metric.class);
    private final Map<Metric, LongSupplier> states = new EnumMap<>(Metric.class);

    ShuffleMetrics() {
        for (var metric : Metric.values()) {
            if (metric.isCounter()) {
                counters.put(metric, new LongAdder());
            }
        }
    }

    /** Defines how the value of a metric that is not a counter is obtained. */
    void define(Metric metric, LongSupplier value) {
        states.put(metric, value);
    }

    void add(Metric metric, long count) {
        counters.get(metric).add(count);
    }

    /** Returns the current values of all metrics. */
    Map<Metric, Long> values() {
        var values = new EnumMap<Metric, Long>(Metric.class);
        for (var metric : Metric.values()) {
            values.put(metric, value(metric));
        }
        return values;
    }

    private long value(Metric metric) {
        return metric.isCounter()
                ? counters.get(metric).sum()
                : states.getOrDefault(metric, () -> 0).getAsLong();
    }

    void register(MetricRegistry registry) {
        for (var metric : Metric.values()) {
            registry.register(metric.key(), (Gauge<Long>) () -> value(metric));
        }
    }

    @Override
    public String toString() {
        return values().toString();
    }
}
