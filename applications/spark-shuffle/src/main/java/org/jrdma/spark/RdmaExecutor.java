package org.jrdma.spark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.internal.config.package$;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.jrdma.ffi.AddressText;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The RDMA device of this executor, with its map outputs, its server and its peers. */
final class RdmaExecutor implements RdmaShuffleTransport, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RdmaExecutor.class);

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

    /** IBV_ODP_SUPPORT_READ: peers may read memory with on-demand paging. */
    private static final int READ_ON_DEMAND = 1 << 3;

    /**
     * The vendor ID of the kernel's rxe, which in Linux 7.3 reads incorrect bytes from on-demand
     * regions unless they are at the beginning of a page.
     */
    static final int RXE = 0xff_ffff;

    private final PluginContext plugin;
    private final ShuffleMetrics metrics;
    private final ChannelSettings channels;
    private final PeerAddresses addresses;
    private final PeerAvoidance avoidance = new PeerAvoidance();
    private final Device device;
    private final Optional<InetSocketAddress> localAddress;
    private final ProtectionDomain domain;
    private final MapOutputs outputs;
    private final BlockBuffers buffers;
    private final PeerFetcher.Timeouts timeouts;
    private final BlockServer server;
    private final Map<String, PeerFetcher> peers = new ConcurrentHashMap<>();

    private RdmaExecutor(
            PluginContext plugin,
            ShuffleMetrics metrics,
            ShuffleSettings settings,
            ChannelSettings channels,
            DeviceSelection.Selected selected)
            throws Exception {
        this.plugin = plugin;
        this.metrics = metrics;
        this.channels = channels;
        this.addresses = new PeerAddresses(plugin);
        device = selected.device();
        // Without the setting, the connection manager chooses an address of the device.
        localAddress = settings.address().map(_ -> new InetSocketAddress(selected.address(), 0));
        domain = device.newProtectionDomain();
        buffers =
                new BlockBuffers(
                        domain.newBufferPool(settings.bufferBytes(), Access.LOCAL_WRITE), metrics);
        timeouts = settings.timeouts();
        outputs =
                new MapOutputs(
                        MapOutputs.Registration.in(domain),
                        key -> MapOutputIndex.find(blockResolver(), key),
                        new MapOutputs.Limits(
                                settings.registeredBytes(),
                                MapOutputs.Limits.MAX_FILES,
                                settings.onDemandPaging() && canReadOnDemand(device)),
                        metrics);
        server = new BlockServer(domain, selected.address(), channels, outputs, metrics);
        try {
            addresses.publish(server.address());
        } catch (Throwable e) {
            server.close();
            throw e;
        }
        LOG.info(
                "Shuffle blocks are read by RDMA: device {} at {}, {}",
                device.name(),
                AddressText.of(server.address()),
                settings);
    }

    /**
     * Opens the device and starts to offer map outputs.
     *
     * @throws Exception if there is no device, or the driver does not answer
     */
    static RdmaExecutor start(
            PluginContext plugin, ShuffleMetrics metrics, ChannelSettings channels)
            throws Exception {
        var settings = ShuffleSettings.of(plugin.conf());
        var selected =
                new DeviceSelection(Verbs.configured(), ConnectionManager.configured())
                        .select(settings.device(), settings.address());
        try {
            return new RdmaExecutor(plugin, metrics, settings, channels, selected);
        } catch (Throwable e) {
            selected.device().close();
            throw e;
        }
    }

    private static boolean canReadOnDemand(Device device) {
        try {
            return canReadOnDemand(device.attributes().vendorId(), device.extendedAttributes());
        } catch (VerbsException e) {
            LOG.debug("{} does not report on-demand paging", device, e);
            return false;
        }
    }

    static boolean canReadOnDemand(int vendorId, ExtendedDeviceAttributes attributes) {
        return vendorId != RXE
                && attributes.onDemand()
                && (attributes.reliableOnDemand() & READ_ON_DEMAND) != 0;
    }

    private static IndexShuffleBlockResolver blockResolver() throws IOException {
        if (SparkEnv.get().shuffleManager().shuffleBlockResolver()
                instanceof IndexShuffleBlockResolver resolver) {
            return resolver;
        }
        throw new IOException("Spark stores map outputs in an unknown way");
    }

    @Override
    public BlockStoreClient client(BlockStoreClient stock) {
        return new RdmaBlockStoreClient(stock, this, plugin.conf());
    }

    @Override
    public long maxBlockBytesInMemory() {
        return Math.min(
                (long) plugin.conf().get(package$.MODULE$.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM()),
                buffers.maxBlockBytes());
    }

    /** The length of the pieces in which longer blocks are read. */
    long pieceBytes() {
        return buffers.pieceBytes();
    }

    /** Returns another executor to read from. */
    PeerFetcher peer(String executor) {
        return peers.computeIfAbsent(
                executor,
                _ ->
                        new PeerFetcher(
                                executor, this::connect, avoidance, buffers, timeouts, metrics));
    }

    boolean isAvoided(String executor) {
        return avoidance.isAvoided(executor);
    }

    /** Returns a listener for blocks of Spark's own client, which counts them. */
    BlockFetchingListener countingByTcp(BlockFetchingListener listener) {
        return new TcpReadCounter(listener, metrics);
    }

    private RdmaChannel connect(String executor) throws IOException {
        var options = channels.connectOptions();
        return ConnectionManager.configured()
                .connectChannel(
                        addresses.find(executor),
                        domain,
                        localAddress.map(options::localAddress).orElse(options),
                        CONNECT_TIMEOUT);
    }

    /** Releases the memory that is not used any more. Called at the end of each task. */
    void taskEnded() {
        buffers.trimIfUnused();
    }

    @Override
    public void forget(int shuffle) {
        outputs.forget(shuffle);
    }

    @Override
    public void close() {
        server.close();
        peers.values().forEach(PeerFetcher::close);
        outputs.close();
        device.close();
    }
}
