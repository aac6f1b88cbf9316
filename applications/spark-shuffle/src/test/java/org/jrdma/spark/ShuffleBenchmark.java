package org.jrdma.spark;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.SparkSession;

/**
 * Compares the CPU time of the executors with stock Spark and with the plug-in. The arguments are
 * the number of rounds and the names of shapes; by default those with a limit. The first half of
 * the rounds of each shape is a warm-up.
 *
 * <p>Two clusters, one of each kind, run the rounds in turn, so that other load on the machine
 * affects both. Each cluster has a driver process of its own, which this process starts. Fails if
 * the results differ, if the plug-in does not read all blocks by RDMA, except if an executor is
 * killed, or if the CPU time of a shape exceeds its limit.
 */
final class ShuffleBenchmark {

    private static final String KILL = "kill";
    private static final Map<String, ShuffleJobs.Job> SHAPES = new LinkedHashMap<>();

    static {
        SHAPES.put("bulk", new Fetch(66, 64 << 10, 4));
        SHAPES.put("small", new Fetch(1, 100, 60));
        SHAPES.put("sort", ShuffleJobs::sort);
        SHAPES.put("rank", ShuffleJobs::rank);
        SHAPES.put("join", ShuffleJobs::join);
        SHAPES.put(KILL, ShuffleBenchmark::kill);
    }

    /** The limits of the CPU time per remote byte, as a multiple of that of stock Spark. */
    private static final SortedMap<String, Double> LIMITS =
            new TreeMap<>(Map.of("bulk", 1.0, "small", 1.1));

    private static final int RECORDS = Integer.getInteger("jrdma.benchmark.records", 200_000);
    private static final String REPLY = "round ";

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

    /**
     * Reads slowly, and kills an executor after two seconds. Spark repeats the map tasks of this
     * executor, and starts another one.
     */
    private static String kill(SparkSession session, int records) {
        var shuffled =
                ShuffleJobs.records(session, records / 4, 500).partitionBy(new HashPartitioner(16));
        var expected = ShuffleJobs.read(shuffled, 0);
        var victim = LocalCluster.executors().getFirst();
        Thread.startVirtualThread(() -> {
            LockSupport.parkNanos(2_000_000_000);
            victim.destroyForcibly();
        });
        assertThat(ShuffleJobs.read(shuffled, 20)).isEqualTo(expected);
        assertThat(victim.isAlive()).isFalse();
        return expected;
    }

    /** The measurements of one round, or the sums of several rounds. */
    record Sums(
            String result,
            CpuTime cpu,
            double wallSeconds,
            long bytes,
            long blocks,
            long rdmaBlocks) {

        private static final Sums NONE = new Sums("", CpuTime.NONE, 0, 0, 0, 0);

        Sums plus(Sums next) {
            return new Sums(
                    next.result,
                    cpu.plus(next.cpu),
                    wallSeconds + next.wallSeconds,
                    bytes + next.bytes,
                    blocks + next.blocks,
                    rdmaBlocks + next.rdmaBlocks);
        }

        double cpuNanosPerByte() {
            return cpu.seconds() * 1e9 / bytes;
        }

        /** Formats this object as the reply of a driver process. */
        String toLine() {
            return "%s%s %s %s %d %d %d"
                    .formatted(REPLY, result, cpu.toText(), wallSeconds, bytes, blocks, rdmaBlocks);
        }

        static Sums parse(String line) {
            var fields = line.substring(REPLY.length()).split(" ", -1);
            return new Sums(
                    fields[0],
                    CpuTime.parse(fields[1]),
                    Double.parseDouble(fields[2]),
                    Long.parseLong(fields[3]),
                    Long.parseLong(fields[4]),
                    Long.parseLong(fields[5]));
        }
    }

    /** A driver process with its cluster. Runs one round of a shape for each request. */
    private static final class Driver implements AutoCloseable {

        private final Process process;
        private final PrintStream requests;
        private final BufferedReader replies;

        Driver(boolean isEnabled) throws IOException {
            var command = new ArrayList<String>();
            command.add(ProcessHandle.current().info().command().orElseThrow());
            command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
            command.addAll(
                    List.of(
                            "-cp",
                            System.getProperty("java.class.path"),
                            ShuffleBenchmark.class.getName(),
                            String.valueOf(isEnabled)));
            process =
                    new ProcessBuilder(command)
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start();
            requests = new PrintStream(process.getOutputStream(), true, UTF_8);
            replies = process.inputReader(UTF_8);
        }

        Sums run(String shape) throws IOException {
            requests.println(shape);
            for (var line = replies.readLine(); line != null; line = replies.readLine()) {
                if (line.startsWith(REPLY)) {
                    return Sums.parse(line);
                }
            }
            throw new IOException("A driver has ended. Its messages are in target/benchmark.log.");
        }

        /** Ends the cluster, and checks that it has no further result. */
        void finish() throws IOException, InterruptedException {
            requests.close();
            replies.transferTo(Writer.nullWriter());
            assertThat(process.waitFor()).isZero();
        }

        @Override
        public void close() {
            process.destroy();
        }
    }

    public static void main(String... arguments) throws Exception {
        switch (arguments[0]) {
            case "true", "false" -> drive(arguments[0]);
            default -> compare(arguments);
        }
    }

    private static void compare(String... arguments) throws Exception {
        var rounds = Integer.parseInt(arguments[0]);
        var shapes =
                arguments.length > 1
                        ? List.of(arguments).subList(1, arguments.length)
                        : LIMITS.keySet();
        var exceeded = new ArrayList<String>();
        printHeading();
        try (var stock = new Driver(false);
                var rdma = new Driver(true)) {
            for (var shape : shapes) {
                var ratios = new ArrayList<Double>();
                var stockSums = Sums.NONE;
                var rdmaSums = Sums.NONE;
                for (var round = 0; round < rounds; round++) {
                    var stockRound = stock.run(shape);
                    var rdmaRound = rdma.run(shape);
                    requireComparable(shape, stockRound, rdmaRound);
                    if (round >= rounds / 2) {
                        ratios.add(rdmaRound.cpuNanosPerByte() / stockRound.cpuNanosPerByte());
                        stockSums = stockSums.plus(stockRound);
                        rdmaSums = rdmaSums.plus(rdmaRound);
                    }
                }
                print(shape, "stock", stockSums, rounds);
                if (shape.equals(KILL)) {
                    print(shape, "RDMA", rdmaSums, rounds);
                    continue;
                }
                ratios.sort(null);
                var median = ratios.get(ratios.size() / 2);
                print(shape, "RDMA; median of the ratios %.2f".formatted(median), rdmaSums, rounds);
                objection(shape, median).ifPresent(exceeded::add);
            }
            stock.finish();
            rdma.finish();
        }
        assertThat(exceeded).as("limits that are exceeded").isEmpty();
    }

    /**
     * Throws an error unless both rounds have the same result, each with blocks on its own path.
     */
    static void requireComparable(String shape, Sums stock, Sums rdma) {
        assertThat(rdma.result()).as("result of %s", shape).isEqualTo(stock.result());
        if (shape.equals(KILL)) {
            return;
        }
        assertThat(stock.blocks()).as("remote blocks of stock Spark").isPositive();
        assertThat(rdma.blocks()).as("remote blocks with the plug-in").isPositive();
        assertThat(stock.rdmaBlocks()).as("blocks that stock Spark has read by RDMA").isZero();
        assertThat(rdma.rdmaBlocks()).as("blocks read by RDMA").isEqualTo(rdma.blocks());
    }

    /** Returns which limit a ratio of CPU times exceeds; empty if it exceeds none. */
    static Optional<String> objection(String shape, double ratio) {
        var limit = LIMITS.getOrDefault(shape, Double.POSITIVE_INFINITY);
        return ratio <= limit
                ? Optional.empty()
                : Optional.of("%s: %.2f instead of at most %.2f".formatted(shape, ratio, limit));
    }

    /** Runs a cluster: for each line of standard input, one round of the shape with this name. */
    private static void drive(String isEnabled) throws Exception {
        try (var cluster =
                        LocalCluster.start(
                                Map.of(
                                        "spark.jrdma.shuffle.enabled",
                                        isEnabled,
                                        "spark.shuffle.compress",
                                        "false",
                                        ShuffleSettings.IDLE_TIMEOUT,
                                        "1m"));
                var requests = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
            for (var shape = requests.readLine(); shape != null; shape = requests.readLine()) {
                cluster.awaitExecutors(2);
                var reportsAll = Boolean.parseBoolean(isEnabled) && !shape.equals(KILL);
                System.out.println(measure(SHAPES.get(shape), cluster, reportsAll).toLine());
            }
        }
    }

    /**
     * @param reportsAll whether the executors report all remote blocks as read by RDMA, which this
     *     method waits for
     */
    private static Sums measure(ShuffleJobs.Job job, LocalCluster cluster, boolean reportsAll)
            throws Exception {
        var byRdma = cluster.metric(Metric.BLOCKS_READ);
        var cpu = CpuTime.measure();
        var start = System.nanoTime();
        var bytes = cluster.remoteBytes();
        var blocks = cluster.remoteBlocks();
        var result = job.run(cluster.session(), RECORDS);
        var wall = (System.nanoTime() - start) / 1e9;
        cluster.settle();
        cpu = CpuTime.measure().minus(cpu);
        blocks = cluster.remoteBlocks() - blocks;
        if (reportsAll) {
            cluster.awaitMetric(Metric.BLOCKS_READ, byRdma + blocks);
        }
        return new Sums(
                result.replace(" ", ""),
                cpu,
                wall,
                cluster.remoteBytes() - bytes,
                blocks,
                cluster.metric(Metric.BLOCKS_READ) - byRdma);
    }

    private static void printHeading() {
        var columns = new ArrayList<>(List.of("shape", "path", "CPU ns/byte"));
        for (var kind : CpuTime.Kind.values()) {
            columns.add(kind.toString().toLowerCase(Locale.ROOT));
        }
        columns.addAll(List.of("CPU us/block", "wall ms", "remote bytes", "remote blocks"));
        printRow(columns);
        printRow(Collections.nCopies(columns.size(), "---"));
    }

    private static void print(String shape, String path, Sums sums, int rounds) {
        var row = new ArrayList<>(List.of(shape, path, cpu(shape, sums.cpuNanosPerByte())));
        for (var kind : CpuTime.Kind.values()) {
            row.add(cpu(shape, sums.cpu().seconds(kind) * 1e9 / sums.bytes()));
        }
        row.add(cpu(shape, sums.cpu().seconds() * 1e6 / sums.blocks()));
        row.add("%.0f".formatted(sums.wallSeconds() * 1e3 / (rounds - rounds / 2)));
        row.add(String.valueOf(sums.bytes()));
        row.add(String.valueOf(sums.blocks()));
        printRow(row);
    }

    /** Formats a CPU time; that of an executor that was killed is not known. */
    private static String cpu(String shape, double time) {
        return shape.equals(KILL) ? "" : "%.2f".formatted(time);
    }

    private static void printRow(List<String> columns) {
        System.out.println("| " + String.join(" | ", columns) + " |");
    }
}
