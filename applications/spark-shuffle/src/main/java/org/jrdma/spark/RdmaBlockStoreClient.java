package org.jrdma.spark;

import com.codahale.metrics.MetricSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.netty.SparkTransportConf;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockPushingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.MergeFinalizerListener;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;
import org.apache.spark.network.util.TransportConf;
import org.jspecify.annotations.Nullable;
import scala.Option;

/**
 * A client that reads shuffle blocks by RDMA, and leaves all other operations and blocks to Spark's
 * own client.
 */
final class RdmaBlockStoreClient extends BlockStoreClient {

    private final BlockStoreClient stock;
    private final RdmaExecutor rdma;
    private final TransportConf fileConf;

    RdmaBlockStoreClient(BlockStoreClient stock, RdmaExecutor rdma, SparkConf conf) {
        this.stock = stock;
        this.rdma = rdma;
        this.fileConf =
                SparkTransportConf.fromSparkConf(
                        conf, "shuffle", 1, Option.empty(), Option.empty());
    }

    @Override
    public void fetchBlocks(
            String host,
            int port,
            String executor,
            String[] names,
            BlockFetchingListener listener,
            @Nullable DownloadFileManager files) {
        var blocks = parse(names);
        if (blocks.isEmpty() || rdma.isAvoided(executor)) {
            fetchByTcp(host, port, executor, names, listener, files);
            return;
        }
        rdma.peer(executor)
                .submit(
                        new Fetch(
                                blocks.get(),
                                listener,
                                missing ->
                                        fetchByTcp(host, port, executor, missing, listener, files),
                                temporary(files)));
    }

    private @Nullable TemporaryBlockFiles temporary(@Nullable DownloadFileManager files) {
        return files == null
                ? null
                : new TemporaryBlockFiles(
                        files, fileConf, rdma.maxBlockBytesInMemory(), rdma.pieceBytes());
    }

    private static Optional<List<Fetch.Block>> parse(String... names) {
        var blocks = new ArrayList<Fetch.Block>();
        for (var name : names) {
            var range = PartitionRange.parse(name);
            if (range.isEmpty()) {
                return Optional.empty();
            }
            blocks.add(new Fetch.Block(name, range.get()));
        }
        return Optional.of(blocks);
    }

    private void fetchByTcp(
            String host,
            int port,
            String executor,
            String[] names,
            BlockFetchingListener listener,
            @Nullable DownloadFileManager files) {
        stock.fetchBlocks(host, port, executor, names, rdma.countingByTcp(listener), files);
    }

    @Override
    public Cause diagnoseCorruption(
            String host,
            int port,
            String executor,
            int shuffle,
            long map,
            int reduce,
            long checksum,
            String algorithm) {
        return stock.diagnoseCorruption(
                host, port, executor, shuffle, map, reduce, checksum, algorithm);
    }

    @Override
    public MetricSet shuffleMetrics() {
        return stock.shuffleMetrics();
    }

    @Override
    public void setAppAttemptId(String id) {
        stock.setAppAttemptId(id);
    }

    @Override
    public String getAppAttemptId() {
        return stock.getAppAttemptId();
    }

    @Override
    public void getHostLocalDirs(
            String host,
            int port,
            String[] executors,
            CompletableFuture<Map<String, String[]>> result) {
        stock.getHostLocalDirs(host, port, executors, result);
    }

    @Override
    public void pushBlocks(
            String host,
            int port,
            String[] names,
            ManagedBuffer[] buffers,
            BlockPushingListener listener) {
        stock.pushBlocks(host, port, names, buffers, listener);
    }

    @Override
    public void finalizeShuffleMerge(
            String host, int port, int shuffle, int merge, MergeFinalizerListener listener) {
        stock.finalizeShuffleMerge(host, port, shuffle, merge, listener);
    }

    @Override
    public void getMergedBlockMeta(
            String host,
            int port,
            int shuffle,
            int merge,
            int reduce,
            MergedBlocksMetaListener listener) {
        stock.getMergedBlockMeta(host, port, shuffle, merge, reduce, listener);
    }

    @Override
    public boolean removeShuffleMerge(String host, int port, int shuffle, int merge) {
        return stock.removeShuffleMerge(host, port, shuffle, merge);
    }

    /** Does nothing: Spark closes its own client. */
    @Override
    public void close() throws IOException {}
}
