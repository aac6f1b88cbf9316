package org.jrdma.spark;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.ListenerClosedException;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.cm.model.PrivateData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts the channels of other executors. Each channel has a thread of its own. Hosts that do not
 * know the token of the application cause neither threads nor more than one warning per minute.
 */
final class BlockServer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BlockServer.class);
    private static final Duration ACCEPT_TIMEOUT = Duration.ofSeconds(5);

    private final ProtectionDomain domain;
    private final Listener listener;
    private final ChannelSettings settings;
    private final MapOutputs outputs;
    private final ShuffleMetrics metrics;
    private final Set<RdmaChannel> channels = ConcurrentHashMap.newKeySet();
    private final WarningLimiter rejections = new WarningLimiter();

    /**
     * @param address an address of the device of {@code domain}
     */
    BlockServer(
            ProtectionDomain domain,
            InetAddress address,
            ChannelSettings settings,
            MapOutputs outputs,
            ShuffleMetrics metrics)
            throws IOException {
        this.domain = domain;
        this.settings = settings;
        this.outputs = outputs;
        this.metrics = metrics;
        this.listener = ConnectionManager.configured().listen(new InetSocketAddress(address, 0));
        Thread.ofPlatform().daemon().name("jrdma-shuffle-listener").start(this::listen);
    }

    /** The address at which other executors connect. */
    InetSocketAddress address() {
        return listener.localAddress();
    }

    private void listen() {
        try {
            while (true) {
                var request = listener.next(ChronoUnit.FOREVER.getDuration());
                if (isOfThisApplication(request)) {
                    Thread.ofPlatform()
                            .daemon()
                            .name("jrdma-shuffle-server-" + AddressText.of(request.peerAddress()))
                            .start(() -> serve(request));
                } else {
                    reject(request);
                }
            }
        } catch (ListenerClosedException e) {
            LOG.debug("Stopped listening", e);
        } catch (FabricException | java.io.InterruptedIOException e) {
            LOG.warn("Cannot accept connections of other executors any more", e);
        }
    }

    private void reject(ConnectionRequest request) {
        rejections
                .tryLog()
                .ifPresent(suppressed ->
                        LOG.warn(
                                "Rejected {}, which is not from this application. {} earlier rejections were not logged: this warning is logged at most once per minute.",
                                request,
                                suppressed));
        request.close();
    }

    private void serve(ConnectionRequest request) {
        try (request;
                var channel = request.acceptChannel(domain, settings.options(), ACCEPT_TIMEOUT)) {
            channels.add(channel);
            try {
                new ServedChannel(channel, outputs, metrics).serve();
            } finally {
                channels.remove(channel);
            }
        } catch (IOException e) {
            LOG.debug("The channel of another executor has ended: {}", e.getMessage());
        } catch (RuntimeException e) {
            LOG.debug("The channel of another executor has failed", e);
        }
    }

    private boolean isOfThisApplication(ConnectionRequest request) {
        var token = settings.token();
        return request.channelPrivateData()
                .map(PrivateData::bytes)
                .filter(sent -> sent.length >= token.length)
                .filter(sent -> MessageDigest.isEqual(Arrays.copyOf(sent, token.length), token))
                .isPresent();
    }

    /** Closes the channels of all executors, which may connect again. */
    void closeChannels() {
        channels.forEach(RdmaChannel::close);
    }

    @Override
    public void close() {
        listener.close();
        closeChannels();
    }
}
