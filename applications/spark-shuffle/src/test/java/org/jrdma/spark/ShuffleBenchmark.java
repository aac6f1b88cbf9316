package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.SparkSession;

/**
 * Compares the CPU time of the executors with stock Spark and with the plug-in. The arguments are
 * the number of rounds and the names of shapes; all shapes by default. The first half of the rounds
 * of each shape is a warm-up. Checks that both have the same results, and that the plug-in reads
 * all blocks by RDMA.
 */
final class ShuffleBenchmark {

    private static final Map<String, ShuffleJobs.Job> SHAPES = new LinkedHashMap<>();

    static {
        SHAPES.put("bulk", new Fetch(200, 64 << 10, 4));
        SHAPES.put("small", new Fetch(1, 100, 60));
        SHAPES.put("sort", ShuffleJobs::sort);
        SHAPES.put("rank", ShuffleJobs::rank);
        SHAPES.put("join", ShuffleJobs::join);
    }

    private static final int RECORDS = 200_000;
    private static final int TICKS_PER_SECOND = 100;

    private ShuffleBenchmark() {}

    /**
     * Reads the same map outputs in each round, so that the rounds after the first one only fetch.
     */
    private static final class Fetch implements ShuffleJobs.Job {

        private final int divisor;
        private final int valueBytes;
        private final int partitions;
        private JavaPairRDD<Long, byte[]> shuffled;
        private SparkSession owner;

        Fetch(int divisor, int valueBytes, int partitions) {
            this.divisor = divisor;
            this.valueBytes = valueBytes;
            this.partitions = partitions;
        }

        @Override
        public String run(SparkSession session, int records) {
            if (owner != session) {
                owner = session;
                shuffled =
                        ShuffleJobs.records(session, records / divisor, valueBytes)
                                .repartition(partitions)
                                .partitionBy(new HashPartitioner(partitions));
            }
            return digest(shuffled);
        }

        private static String digest(JavaPairRDD<Long, byte[]> shuffled) {
            return shuffled.mapPartitions(
                            all -> {
                                var sum = 0L;
                                while (all.hasNext()) {
                                    var record = all.next();
                                    sum += record._1() ^ record._2()[record._2().length / 2];
                                }
                                return List.of(sum).iterator();
                            })
                    .reduce(Long::sum)
                    .toString();
        }
    }

    /** The sums of the measured rounds. */
    private record Sums(
            String result, double cpuSeconds, double wallSeconds, long bytes, long blocks) {}

    public static void main(String... arguments) throws Exception {
        var rounds = Integer.parseInt(arguments[0]);
        var shapes =
                arguments.length > 1
                        ? List.of(arguments).subList(1, arguments.length)
                        : SHAPES.keySet();
        var stock = measure(rounds, shapes, "false");
        var rdma = measure(rounds, shapes, "true");
        System.out.printf(
                "%n%-6s %-6s %14s %14s %12s %12s %10s%n",
                "shape",
                "path",
                "remote bytes",
                "remote blocks",
                "CPU ns/byte",
                "CPU us/block",
                "wall ms");
        for (var shape : shapes) {
            print(shape, "stock", stock.get(shape), rounds);
            print(shape, "rdma", rdma.get(shape), rounds);
            assertThat(rdma.get(shape).result()).isEqualTo(stock.get(shape).result());
        }
    }

    private static Map<String, Sums> measure(int rounds, Iterable<String> shapes, String enabled)
            throws Exception {
        var sums = new LinkedHashMap<String, Sums>();
        try (var cluster =
                LocalCluster.start(
                        Map.of(
                                "spark.jrdma.shuffle.enabled",
                                enabled,
                                "spark.shuffle.compress",
                                "false"))) {
            for (var shape : shapes) {
                sums.put(shape, measure(rounds, SHAPES.get(shape), cluster));
            }
            if (Boolean.parseBoolean(enabled)) {
                cluster.awaitMetric(Metric.BLOCKS_READ, cluster.remoteBlocks());
            }
        }
        return sums;
    }

    private static Sums measure(int rounds, ShuffleJobs.Job job, LocalCluster cluster)
            throws Exception {
        var result = "";
        for (var round = 0; round < rounds / 2; round++) {
            result = job.run(cluster.session(), RECORDS);
        }
        cluster.settle();
        var cpu = cpuSeconds();
        var start = System.nanoTime();
        var bytes = cluster.remoteBytes();
        var blocks = cluster.remoteBlocks();
        for (var round = rounds / 2; round < rounds; round++) {
            assertThat(job.run(cluster.session(), RECORDS)).isEqualTo(result);
        }
        var wall = (System.nanoTime() - start) / 1e9;
        cluster.settle();
        return new Sums(
                result,
                cpuSeconds() - cpu,
                wall,
                cluster.remoteBytes() - bytes,
                cluster.remoteBlocks() - blocks);
    }

    /** The CPU time of all executors in user and kernel mode. */
    private static double cpuSeconds() throws IOException {
        var ticks = 0L;
        for (var executor : LocalCluster.executors()) {
            var stat = Files.readString(Path.of("/proc/%d/stat".formatted(executor.pid())));
            var fields = Arrays.asList(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1));
            ticks += Long.parseLong(fields.get(11)) + Long.parseLong(fields.get(12));
        }
        return (double) ticks / TICKS_PER_SECOND;
    }

    private static void print(String shape, String path, Sums sums, int rounds) {
        System.out.printf(
                "%-6s %-6s %14d %14d %12.2f %12.1f %10.0f%n",
                shape,
                path,
                sums.bytes(),
                sums.blocks(),
                sums.cpuSeconds() * 1e9 / sums.bytes(),
                sums.cpuSeconds() * 1e6 / sums.blocks(),
                sums.wallSeconds() * 1e3 / (rounds - rounds / 2));
    }
}
