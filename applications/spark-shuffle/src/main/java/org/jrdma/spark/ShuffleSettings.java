package org.jrdma.spark;

import java.time.Duration;
import java.util.Optional;
import org.apache.spark.SparkConf;

/**
 * The settings of the plug-in.
 *
 * @param device the name of the RDMA device; empty for the first device
 * @param registeredBytes the limit for the map outputs that are registered at the same time
 * @param onDemandPaging whether map outputs beyond the limit are registered with on-demand paging
 * @param bufferBytes the limit for the buffers into which blocks are read
 * @param idleTimeout the time for which an unused channel to another executor stays open
 */
record ShuffleSettings(
        Optional<String> device,
        long registeredBytes,
        boolean onDemandPaging,
        long bufferBytes,
        Duration idleTimeout) {

    private static final String PREFIX = "spark.jrdma.shuffle.";

    /** Whether the plug-in is active. */
    static final String ENABLED = PREFIX + "enabled";

    /**
     * Whether blocks may leave a machine unencrypted although Spark's connections are protected.
     */
    static final String ALLOW_UNPROTECTED = PREFIX + "allowUnprotected";

    static final String IDLE_TIMEOUT = PREFIX + "idleTimeout";

    private static final long BUFFER_FACTOR = 2;

    static ShuffleSettings of(SparkConf conf) {
        var device = conf.get(PREFIX + "device", "");
        return new ShuffleSettings(
                device.isEmpty() ? Optional.empty() : Optional.of(device),
                conf.getSizeAsBytes(PREFIX + "registeredBytes", "4g"),
                conf.getBoolean(PREFIX + "onDemandPaging", true),
                conf.getSizeAsBytes(PREFIX + "bufferBytes", defaultBufferBytes(conf)),
                Duration.ofMillis(conf.getTimeAsMs(IDLE_TIMEOUT, "1m")));
    }

    /**
     * Each task requests at most {@code spark.reducer.maxSizeInFlight} at the same time. An
     * executor of a standalone cluster has all cores of its worker by default.
     */
    private static long defaultBufferBytes(SparkConf conf) {
        return BUFFER_FACTOR
                * conf.getSizeAsBytes("spark.reducer.maxSizeInFlight", "48m")
                * conf.getInt("spark.executor.cores", Runtime.getRuntime().availableProcessors());
    }
}
