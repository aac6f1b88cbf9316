package org.jrdma.spark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.api.plugin.PluginContext;

/**
 * Finds the addresses at which other executors listen. The driver knows them. Executors that failed
 * are avoided for a while, and executors without an address permanently. Safe for use by multiple
 * threads.
 */
final class PeerAddressLookupAndAvoidance {

    /** Thrown if an executor does not offer its map outputs by RDMA, or was removed. */
    static final class NotListedException extends IOException {

        private static final long serialVersionUID = 1L;

        NotListedException(String executor) {
            super("Executor %s does not use RDMA or was removed".formatted(executor));
        }
    }

    private static final Duration AVOIDANCE = Duration.ofSeconds(30);

    private final PluginContext plugin;
    private final Duration avoidance;
    private final Map<String, Long> avoidedUntil = new ConcurrentHashMap<>();

    /**
     * The executors without an address. An executor publishes its address before it runs the first
     * task, and Spark does not reuse the names of removed executors.
     */
    private final Set<String> unlisted = ConcurrentHashMap.newKeySet();

    PeerAddressLookupAndAvoidance(PluginContext plugin) {
        this(plugin, AVOIDANCE);
    }

    /**
     * @param avoidance the time for which executors that failed are avoided
     */
    PeerAddressLookupAndAvoidance(PluginContext plugin, Duration avoidance) {
        this.plugin = plugin;
        this.avoidance = avoidance;
    }

    /** Reports to the driver where this executor listens. */
    void publish(InetSocketAddress address) throws Exception {
        plugin.ask(
                new DriverMessage.Listening(
                                plugin.executorID(),
                                address.getAddress().getHostAddress(),
                                address.getPort())
                        .encode());
    }

    /**
     * Asks the driver where an executor listens.
     *
     * @throws NotListedException if the driver knows no address
     */
    InetSocketAddress find(String executor) throws IOException {
        Object answer;
        try {
            answer = plugin.ask(new DriverMessage.Find(executor).encode());
        } catch (Exception e) {
            throw new IOException(
                    "The driver did not answer where executor %s is".formatted(executor), e);
        }
        if (answer instanceof String text
                && !text.isEmpty()
                && DriverMessage.decode(text)
                        instanceof DriverMessage.Listening(var _, var host, var port)) {
            return new InetSocketAddress(host, port);
        }
        throw new NotListedException(executor);
    }

    /** Returns true if RDMA should not be tried now. */
    boolean isAvoided(String executor) {
        if (unlisted.contains(executor)) {
            return true;
        }
        var until = avoidedUntil.get(executor);
        if (until == null) {
            return false;
        }
        if (System.nanoTime() - until < 0) {
            return true;
        }
        avoidedUntil.remove(executor, until);
        return false;
    }

    /** Avoids an executor that failed for a while. */
    void avoid(String executor) {
        avoidedUntil.put(executor, System.nanoTime() + avoidance.toNanos());
    }

    /**
     * Avoids an executor without an address permanently.
     *
     * @return false if it was avoided permanently before
     */
    boolean avoidPermanently(String executor) {
        return unlisted.add(executor);
    }
}
