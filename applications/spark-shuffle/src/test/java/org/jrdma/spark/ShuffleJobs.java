package org.jrdma.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** Jobs with shuffles. Each job returns a digest of its result, which depends on all records. */
final class ShuffleJobs {

    /** A job, for tests that run several. */
    interface Job {
        String run(SparkSession session, int records);
    }

    private static final int PARTITIONS = 4;
    private static final int VALUE_BYTES = 92;
    private static final int RECORDS_PER_PAUSE = 100;

    private ShuffleJobs() {}

    static JavaSparkContext context(SparkSession session) {
        return JavaSparkContext.fromSparkContext(session.sparkContext());
    }

    static JavaPairRDD<Long, byte[]> records(SparkSession session, int records, int valueBytes) {
        return new RandomRecords(PARTITIONS, records / PARTITIONS, valueBytes)
                .distribute(context(session));
    }

    /** Reads records, with a pause after every 100 so that the job takes several seconds. */
    static String read(JavaPairRDD<Long, byte[]> shuffled, int pauseMillis) {
        return shuffled.mapPartitions(
                        records -> {
                            var hash = 0L;
                            var count = 0;
                            while (records.hasNext()) {
                                var record = records.next();
                                hash += 31 * record._1() + Arrays.hashCode(record._2());
                                if (pauseMillis > 0 && ++count % RECORDS_PER_PAUSE == 0) {
                                    Thread.sleep(pauseMillis);
                                }
                            }
                            return List.of(hash).iterator();
                        })
                .reduce(Long::sum)
                .toString();
    }

    /** Sorts the records within each partition. */
    static String sort(SparkSession session, int records) {
        return records(session, records, VALUE_BYTES)
                .repartitionAndSortWithinPartitions(new HashPartitioner(PARTITIONS))
                .mapPartitions(sorted -> {
                    var hash = 0L;
                    var last = Long.MIN_VALUE;
                    while (sorted.hasNext()) {
                        var next = sorted.next();
                        if (next._1() < last) {
                            throw new IllegalStateException("The records are not sorted");
                        }
                        last = next._1();
                        hash = 31 * hash + last + Arrays.hashCode(next._2());
                    }
                    return List.of(hash).iterator();
                })
                .collect()
                .toString();
    }

    /** Groups the records by a part of their keys, without a combiner on the map side. */
    static String group(SparkSession session, int records) {
        var groups = records / 20;
        return records(session, records, VALUE_BYTES)
                .mapToPair(record ->
                        new Tuple2<>(
                                Math.floorMod(record._1(), groups), Arrays.hashCode(record._2())))
                .groupByKey(PARTITIONS)
                .map(group -> {
                    var sum = 0L;
                    for (var value : group._2()) {
                        sum += value;
                    }
                    return (group._1() + 1) * sum;
                })
                .reduce(Long::sum)
                .toString();
    }

    /** Ranks the nodes of a random graph in three rounds, each with a join and a reduction. */
    static String rank(SparkSession session, int edges) {
        var nodes = edges / 8;
        var graph =
                records(session, edges, Long.BYTES)
                        .mapToPair(record ->
                                new Tuple2<>(
                                        Math.floorMod(record._1(), nodes),
                                        Math.floorMod(Arrays.hashCode(record._2()), nodes)))
                        .groupByKey(PARTITIONS)
                        .cache();
        JavaPairRDD<Integer, Long> ranks = graph.mapValues(_ -> 1_000_000L);
        for (var round = 0; round < 3; round++) {
            ranks =
                    graph.join(ranks)
                            .values()
                            .flatMapToPair(node -> {
                                var neighbors = new ArrayList<Integer>();
                                node._1().forEach(neighbors::add);
                                var share = node._2() / neighbors.size();
                                return neighbors.stream()
                                        .map(neighbor -> new Tuple2<>(neighbor, share))
                                        .iterator();
                            })
                            .reduceByKey(Long::sum, PARTITIONS)
                            .mapValues(sum -> 150_000 + sum * 85 / 100);
        }
        return ranks.map(rank -> (rank._1() + 1) * rank._2()).reduce(Long::sum).toString();
    }

    /** Joins two tables and aggregates, with adaptive query execution. */
    static String join(SparkSession session, int records) {
        return digest(joined(session, records));
    }

    static String digest(Dataset<Row> joined) {
        return joined.collectAsList().getFirst().mkString(":");
    }

    /** Returns the query of {@link #join}, whose plan shows how it was executed. */
    static Dataset<Row> joined(SparkSession session, int records) {
        var left =
                session.range(0, records, 1, PARTITIONS)
                        .selectExpr("id AS k", "xxhash64(id) AS v")
                        .filter("v % 2 = 0");
        var right =
                session.range(0, records, 1, PARTITIONS)
                        .selectExpr("id * 3 AS k", "repeat(CAST(id AS STRING), 3) AS s");
        return left.join(right, "k").selectExpr("COUNT(*)", "SUM(pmod(v, 1009))", "SUM(length(s))");
    }
}
