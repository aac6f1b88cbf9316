package org.jrdma.spark;

import java.time.Duration;
import java.util.Optional;
import org.apache.spark.SparkConf;

/**
 * The settings of the plug-in.
 *
 * @param device the name of the RDMA device; empty for the first suitable device
 * @param address the addresses, at one of which this executor listens; empty for an address of the
 *     device
 * @param registeredBytes the limit for the map outputs that are registered at the same time
 * @param onDemandPaging whether map outputs beyond the limit are registered with on-demand paging
 * @param bufferBytes the limit for the buffers into which blocks are read
 * @param timeouts the timeouts of channels to other executors
 */
record ShuffleSettings(
        Optional<String> device,
        Optional<AddressRange> address,
        long registeredBytes,
        boolean onDemandPaging,
        long bufferBytes,
        PeerFetcher.Timeouts timeouts) {

    private static final String PREFIX = "spark.jrdma.shuffle.";

    /** Whether the plug-in is active. */
    static final String ENABLED = PREFIX + "enabled";

    /**
     * Whether blocks may leave a machine unencrypted although Spark's connections are protected.
     */
    static final String ALLOW_UNPROTECTED = PREFIX + "allowUnprotected";

    static final String ADDRESS = PREFIX + "address";
    static final String IDLE_TIMEOUT = PREFIX + "idleTimeout";

    private static final long BUFFER_FACTOR = 2;

    static ShuffleSettings of(SparkConf conf) {
        return new ShuffleSettings(
                text(conf, PREFIX + "device"),
                text(conf, ADDRESS).map(ShuffleSettings::addresses),
                conf.getSizeAsBytes(PREFIX + "registeredBytes", "4g"),
                conf.getBoolean(PREFIX + "onDemandPaging", true),
                conf.getSizeAsBytes(PREFIX + "bufferBytes", defaultBufferBytes(conf)),
                new PeerFetcher.Timeouts(
                        Duration.ofMillis(conf.getTimeAsMs(IDLE_TIMEOUT, "1m")),
                        Duration.ofSeconds(
                                conf.getTimeAsSeconds("spark.network.timeout", "120s"))));
    }

    private static AddressRange addresses(String text) {
        try {
            return AddressRange.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "Invalid value of %s: %s".formatted(ADDRESS, e.getMessage()), e);
        }
    }

    private static Optional<String> text(SparkConf conf, String key) {
        return Optional.of(conf.get(key, "")).filter(text -> !text.isEmpty());
    }

    /**
     * Each task requests at most {@code spark.reducer.maxSizeInFlight} at the same time. An
     * executor of a standalone cluster has all cores of its worker by default.
     */
    private static long defaultBufferBytes(SparkConf conf) {
        return BUFFER_FACTOR
                * (conf.getSizeAsMb("spark.reducer.maxSizeInFlight", "48m") << 20)
                * conf.getInt("spark.executor.cores", Runtime.getRuntime().availableProcessors());
    }
}
