package org.jrdma.spark;

import java.util.Map;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.jspecify.annotations.Nullable;

/** Prevents executor 1 from using the software fabric, so that it has no device. */
public final class NoDevicePlugin implements SparkPlugin {

    /** Creates the plug-in; called by Spark. */
    public NoDevicePlugin() {}

    @Override
    public @Nullable DriverPlugin driverPlugin() {
        return null;
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new ExecutorPlugin() {
            @Override
            public void init(PluginContext plugin, Map<String, String> fromDriver) {
                if (plugin.executorID().equals("1")) {
                    System.setProperty("jrdma.fabric", "system");
                }
            }
        };
    }
}
