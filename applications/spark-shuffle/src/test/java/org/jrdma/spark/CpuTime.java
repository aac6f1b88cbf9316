package org.jrdma.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The CPU time of the executors in user and kernel mode, by kind of thread.
 *
 * @param ticks the clock ticks of each kind
 */
record CpuTime(Map<Kind, Long> ticks) {

    /** The purpose of a thread, which its name shows. */
    enum Kind {
        TASKS("Executor task.*"),
        TRANSPORT("(shuffle|jrdma)-.*"),
        COLLECTOR("(G1 |GC Thread).*"),
        COMPILER("C[12] Comp.*"),
        /** Also contains the threads that have ended. */
        OTHER(".*");

        private final String names;

        Kind(String names) {
            this.names = names;
        }

        private static Kind of(String thread) {
            return Arrays.stream(values())
                    .filter(kind -> thread.matches(kind.names))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static final int TICKS_PER_SECOND = 100;
    static final CpuTime NONE = new CpuTime(Map.of());

    /** Measures the CPU time since the start of the executors. */
    static CpuTime measure() throws IOException {
        var time = NONE;
        for (var executor : LocalCluster.executors()) {
            time = time.plus(measure(Path.of("/proc", String.valueOf(executor.pid()))));
        }
        return time;
    }

    private static CpuTime measure(Path process) throws IOException {
        var ticks = new EnumMap<Kind, Long>(Kind.class);
        var rest = ticks(Files.readString(process.resolve("stat")));
        try (var threads = Files.newDirectoryStream(process.resolve("task"))) {
            for (var thread : threads) {
                try {
                    var stat = Files.readString(thread.resolve("stat"));
                    var name = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
                    ticks.merge(Kind.of(name), ticks(stat), Long::sum);
                    rest -= ticks(stat);
                } catch (IOException e) {
                    // The thread has ended.
                }
            }
        }
        ticks.merge(Kind.OTHER, rest, Long::sum);
        return new CpuTime(ticks);
    }

    private static long ticks(String stat) {
        var fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    CpuTime plus(CpuTime other) {
        return combine(other, 1);
    }

    CpuTime minus(CpuTime other) {
        return combine(other, -1);
    }

    private CpuTime combine(CpuTime other, int factor) {
        var sums = new EnumMap<Kind, Long>(Kind.class);
        sums.putAll(ticks);
        other.ticks.forEach((kind, count) -> sums.merge(kind, factor * count, Long::sum));
        return new CpuTime(sums);
    }

    double seconds() {
        return (double) ticks.values().stream().mapToLong(Long::longValue).sum() / TICKS_PER_SECOND;
    }

    double seconds(Kind kind) {
        return (double) ticks.getOrDefault(kind, 0L) / TICKS_PER_SECOND;
    }

    /** Formats this object without spaces. */
    String toText() {
        return ticks.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(","));
    }

    static CpuTime parse(String text) {
        return new CpuTime(
                Arrays.stream(text.split(",", -1))
                        .map(entry -> entry.split("=", -1))
                        .collect(
                                Collectors.toMap(
                                        entry -> Kind.valueOf(entry[0]),
                                        entry -> Long.parseLong(entry[1]))));
    }
}
