package org.jrdma.spark;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.apache.spark.api.plugin.PluginContext;

/** The addresses at which the executors listen, which the driver knows. */
final class PeerAddresses {

    /** Thrown if an executor does not offer its map outputs by RDMA, or was removed. */
    static final class NotListedException extends IOException {

        private static final long serialVersionUID = 1L;

        NotListedException(String executor) {
            super("Executor %s does not use RDMA or was removed".formatted(executor));
        }
    }

    private final PluginContext plugin;

    PeerAddresses(PluginContext plugin) {
        this.plugin = plugin;
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
}
