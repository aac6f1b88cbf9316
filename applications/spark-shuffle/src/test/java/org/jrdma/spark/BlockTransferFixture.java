package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.RdmaChannel;
import org.jrdma.verbs.memory.BufferPool;
import org.jrdma.verbs.model.Access;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Two executors for tests, which are in this JVM, without Spark: one reads blocks of the other. */
abstract class BlockTransferFixture {

    static final Duration TIMEOUT = Duration.ofSeconds(30);
    static final int PARTITION_BYTES = 10_000;
    static final int PARTITIONS = 20;
    static final int FILE_BYTES = PARTITION_BYTES * PARTITIONS;
    static final int POOL_BYTES = 4 << 20;
    static final PeerFetcher.Timeouts TIMEOUTS =
            new PeerFetcher.Timeouts(Duration.ofMinutes(1), Duration.ofMinutes(1));
    static final String SERVER = "1";

    @TempDir Path folder;

    final ShuffleMetrics metrics = new ShuffleMetrics();
    final ChannelSettings settings = ChannelSettings.of(ChannelSettings.newToken());
    final Map<MapOutputIndex.Key, MapOutputIndex> indexes = new ConcurrentHashMap<>();
    final FakePluginContext plugin = new FakePluginContext();
    final PeerAddresses addresses = new PeerAddresses(plugin);
    final AtomicLong now = new AtomicLong();
    final PeerAvoidance avoidance = new PeerAvoidance(now::get);

    /** The number of attempts to connect. */
    final AtomicInteger connections = new AtomicInteger();

    Runnable afterFind = () -> {};
    Device device;
    ProtectionDomain domain;
    MapOutputs outputs;
    BlockServer server;
    BufferPool buffers;
    PeerFetcher peer;

    @BeforeEach
    void connect() throws Exception {
        device = Verbs.software().openFirst();
        domain = device.newProtectionDomain();
        outputs =
                new MapOutputs(
                        MapOutputs.Registration.in(domain),
                        this::find,
                        new MapOutputs.Limits(
                                2 * FILE_BYTES, MapOutputs.Limits.MAX_FILES, onDemandPaging()),
                        metrics);
        server =
                new BlockServer(
                        domain, device.ipAddress().orElseThrow(), settings, outputs, metrics);
        plugin.answer =
                new DriverMessage.Listening(
                                SERVER,
                                address().getAddress().getHostAddress(),
                                address().getPort())
                        .encode();
        buffers = domain.newBufferPool(POOL_BYTES, Access.LOCAL_WRITE);
        peer = peer(settings);
    }

    /** Whether map outputs beyond the limit of two files are registered with on-demand paging. */
    boolean onDemandPaging() {
        return false;
    }

    private InetSocketAddress address() {
        return server.address();
    }

    PeerFetcher peer(ChannelSettings channels) {
        return peer(channels, buffers);
    }

    PeerFetcher peer(ChannelSettings channels, BufferPool buffers) {
        return new PeerFetcher(
                SERVER,
                executor -> connect(executor, channels),
                avoidance,
                new BlockBuffers(buffers, metrics),
                TIMEOUTS,
                metrics);
    }

    RdmaChannel connect(String executor, ChannelSettings channels) throws IOException {
        connections.incrementAndGet();
        return ConnectionManager.software()
                .connectChannel(
                        addresses.find(executor), domain, channels.connectOptions(), TIMEOUT);
    }

    private MapOutputIndex find(MapOutputIndex.Key key) throws IOException {
        afterFind.run();
        var index = indexes.get(key);
        if (index == null) {
            throw new NoSuchFileException(key.toString());
        }
        return index;
    }

    @AfterEach
    void close() {
        peer.close();
        server.close();
        outputs.close();
        device.close();
    }

    /** Writes the output of a map task: each byte of a partition is the number of the partition. */
    void write(int shuffle, long map) throws IOException {
        var content = new byte[FILE_BYTES];
        for (var i = 0; i < content.length; i++) {
            content[i] = (byte) (i / PARTITION_BYTES);
        }
        var file = Files.write(folder.resolve(shuffle + "-" + map), content);
        var offsets =
                IntStream.rangeClosed(0, PARTITIONS).mapToLong(i -> (long) i * PARTITION_BYTES);
        indexes.put(
                new MapOutputIndex.Key(shuffle, map),
                new MapOutputIndex(file, FILE_BYTES, offsets.toArray()));
    }

    /**
     * Runs an action on another thread while holding the lock of the peer, and returns when that
     * thread has the lock. Until the action ends, the thread of the peer continues with no fetch,
     * because it first polls for new fetches, for which it needs the lock.
     */
    final void runWithPeerLocked(Runnable action) {
        var lock = peer;
        var isLocked = new CountDownLatch(1);
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    synchronized (lock) {
                        isLocked.countDown();
                        action.run();
                    }
                });
        awaitUninterruptibly(isLocked);
    }

    static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A task that stores the blocks that it receives. */
    static final class Task implements BlockFetchingListener {

        final Map<String, ManagedBuffer> blocks = new ConcurrentHashMap<>();
        final BlockingQueue<String> received = new LinkedBlockingQueue<>();
        final List<String> stock = new ArrayList<>();

        @Override
        public void onBlockFetchSuccess(String name, ManagedBuffer content) {
            blocks.put(name, content.retain());
            received.add(name);
        }

        @Override
        public void onBlockFetchFailure(String name, Throwable cause) {
            received.add(name + " failed");
        }

        void stock(String... names) {
            stock.addAll(List.of(names));
            received.addAll(List.of(names));
        }

        void await(int count) throws InterruptedException {
            for (var i = 0; i < count; i++) {
                assertThat(received.poll(30, TimeUnit.SECONDS)).isNotNull();
            }
        }

        byte[] bytes(String name) throws IOException {
            var bytes = new byte[(int) blocks.get(name).size()];
            ByteBuffer content = blocks.get(name).nioByteBuffer();
            content.get(bytes);
            return bytes;
        }

        void release() {
            blocks.values().forEach(ManagedBuffer::release);
        }
    }

    Task fetch(String... names) throws InterruptedException {
        return fetch(peer, names);
    }

    static Task fetch(PeerFetcher peer, String... names) throws InterruptedException {
        return fetch(peer, null, names);
    }

    /** Fetches blocks into memory or into files, and waits for all of them. */
    static Task fetch(PeerFetcher peer, @Nullable TemporaryBlockFiles files, String... names)
            throws InterruptedException {
        var task = new Task();
        var blocks =
                Arrays.stream(names)
                        .map(name ->
                                new Fetch.Block(name, PartitionRange.parse(name).orElseThrow()))
                        .toList();
        peer.submit(new Fetch(blocks, task, task::stock, files));
        task.await(names.length);
        return task;
    }

    long value(Metric metric) {
        return metrics.values().get(metric);
    }

    /** Waits until the thread of the peer has released its references, too. */
    void awaitReturnOfBuffers() throws InterruptedException {
        LocalCluster.await(TIMEOUT, () -> buffers.statistics().usedBytes() == 0);
    }

    void awaitValue(Metric metric, long value) throws InterruptedException {
        LocalCluster.await(TIMEOUT, () -> value(metric) == value);
    }
}
