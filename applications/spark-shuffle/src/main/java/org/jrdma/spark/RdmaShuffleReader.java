package org.jrdma.spark;

import java.io.InputStream;
import org.apache.spark.Aggregator;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.checksum.RowBasedChecksum;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.CompletionIterator;
import org.apache.spark.util.SystemClock;
import org.apache.spark.util.collection.ExternalSorter;
import scala.Option;
import scala.Product2;
import scala.Tuple2;
import scala.Tuple3;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.runtime.BoxedUnit;

/**
 * Reads the records of a range of partitions. The behavior is that of {@code
 * BlockStoreShuffleReader} in Spark 4.2, which does not allow another client.
 */
@SuppressWarnings({"unchecked", "rawtypes"}) // Spark casts in the same places.
final class RdmaShuffleReader<K, C> implements ShuffleReader<K, C> {

    private static final package$ CONFIG = package$.MODULE$;
    private static final long MEBIBYTE = 1 << 20;

    private final ShuffleDependency dependency;
    private final Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks;
    private final TaskContext context;
    private final ShuffleReadMetricsReporter metrics;
    private final BlockStoreClient client;
    private final long maxBlockBytesInMemory;
    private final boolean mayBatch;

    RdmaShuffleReader(
            BaseShuffleHandle<K, ?, C> handle,
            Iterator<Tuple2<BlockManagerId, Seq<Tuple3<BlockId, Object, Object>>>> blocks,
            TaskContext context,
            ShuffleReadMetricsReporter metrics,
            BlockStoreClient client,
            long maxBlockBytesInMemory,
            boolean mayBatch) {
        this.dependency = handle.dependency();
        this.blocks = blocks;
        this.context = context;
        this.metrics = metrics;
        this.client = client;
        this.maxBlockBytesInMemory = maxBlockBytesInMemory;
        this.mayBatch = mayBatch;
    }

    @Override
    public Iterator<Product2<K, C>> read() {
        var records = new InterruptibleIterator(context, countedRecords());
        Iterator result = dependency.keyOrdering().isDefined() ? sort(records) : combine(records);
        return result instanceof InterruptibleIterator
                ? result
                : new InterruptibleIterator(context, result);
    }

    private Iterator countedRecords() {
        var serializer = dependency.serializer().newInstance();
        Iterator<Tuple2<Object, Object>> records =
                streams()
                        .flatMap(block ->
                                serializer.deserializeStream(block._2()).asKeyValueIterator());
        Iterator counted =
                records.map(record -> {
                    metrics.incRecordsRead(1);
                    return record;
                });
        return CompletionIterator.apply(
                counted,
                () -> {
                    context.taskMetrics().mergeShuffleReadMetrics();
                    return BoxedUnit.UNIT;
                });
    }

    private Iterator<Tuple2<BlockId, InputStream>> streams() {
        var env = SparkEnv.get();
        var conf = env.conf();
        return new ShuffleBlockFetcherIterator(
                        context,
                        client,
                        env.blockManager(),
                        env.mapOutputTracker(),
                        blocks,
                        env.serializerManager()::wrapStream,
                        (long) conf.get(CONFIG.REDUCER_MAX_SIZE_IN_FLIGHT()) * MEBIBYTE,
                        (int) conf.get(CONFIG.REDUCER_MAX_REQS_IN_FLIGHT()),
                        (int) conf.get(CONFIG.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()),
                        maxBlockBytesInMemory,
                        (int) conf.get(CONFIG.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()),
                        (boolean) conf.get(CONFIG.SHUFFLE_DETECT_CORRUPT()),
                        (boolean) conf.get(CONFIG.SHUFFLE_DETECT_CORRUPT_MEMORY()),
                        (boolean) conf.get(CONFIG.SHUFFLE_CHECKSUM_ENABLED()),
                        conf.get(CONFIG.SHUFFLE_CHECKSUM_ALGORITHM()),
                        metrics,
                        mayBatch && canBatch(conf),
                        new SystemClock())
                .toCompletionIterator();
    }

    /** Whether consecutive partitions of a map output can be read as one block. */
    private boolean canBatch(SparkConf conf) {
        return dependency.serializer().supportsRelocationOfSerializedObjects()
                && (!(boolean) conf.get(CONFIG.SHUFFLE_COMPRESS())
                        || CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(
                                CompressionCodec$.MODULE$.createCodec(conf)))
                && !(boolean) conf.get(CONFIG.SHUFFLE_USE_OLD_FETCH_PROTOCOL())
                && !(boolean) conf.get(CONFIG.IO_ENCRYPTION_ENABLED());
    }

    private Iterator sort(Iterator records) {
        Option<Aggregator> aggregator = dependency.aggregator();
        if (dependency.mapSideCombine()) {
            aggregator =
                    aggregator.map(combined ->
                            new Aggregator(
                                    value -> value,
                                    combined.mergeCombiners(),
                                    combined.mergeCombiners()));
        }
        return new ExternalSorter(
                        context,
                        aggregator,
                        Option.empty(),
                        dependency.keyOrdering(),
                        dependency.serializer(),
                        new RowBasedChecksum[0])
                .insertAllAndUpdateMetrics(records);
    }

    private Iterator combine(Iterator records) {
        if (dependency.aggregator().isEmpty()) {
            return records;
        }
        var aggregator = (Aggregator) dependency.aggregator().get();
        return dependency.mapSideCombine()
                ? aggregator.combineCombinersByKey(records, context)
                : aggregator.combineValuesByKey(records, context);
    }
}
