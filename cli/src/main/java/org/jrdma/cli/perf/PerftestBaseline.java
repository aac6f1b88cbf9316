package org.jrdma.cli.perf;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Runs the programs of perftest, such as {@code ib_write_lat} and {@code ib_write_bw}, with both
 * sides on this machine. They use the same message size, number of messages and queue depth as this
 * command, a completion for each message, and no inline data.
 *
 * @param device the RDMA device
 * @param gidIndex the index of the GID that this command uses
 */
record PerftestBaseline(String device, int gidIndex, ClientServerProgramRunner programs)
        implements NativeBaseline {

    private static final String PACKAGE = "perftest";
    private static final Map<String, String> NAMES =
            Map.of("write", "ib_write", "read", "ib_read", "send", "ib_send");

    private static final int ATTEMPTS = 6;
    private static final long MIN_ITERATIONS = 100;
    private static final long MAX_ITERATIONS = 100_000;
    private static final double MEBI_PER_MEGA = 1.048576;

    private static final Pattern FIGURES =
            Pattern.compile("\\s*\\d+\\s+\\d+(\\s+([\\d.]+|-?inf|-?nan)){3,}\\s*");
    private static final String NOT_LISTENING = "Couldn't connect";

    /**
     * A kind of measurement, with the suffix of the program name and the number of the output
     * column that contains the result.
     */
    private enum Measure {
        LATENCY("_lat", 4),
        BANDWIDTH("_bw", 3);

        private final String suffix;
        private final int column;

        Measure(String suffix, int column) {
            this.suffix = suffix;
            this.column = column;
        }
    }

    @Override
    public Optional<String> missing(String path) {
        var name = NAMES.get(path);
        if (name == null) {
            return Optional.of("there is no C program for this path");
        }
        return Arrays.stream(Measure.values())
                .flatMap(measure -> programs.missing(name + measure.suffix, PACKAGE).stream())
                .findFirst();
    }

    @Override
    public BaselineComparison compare(Result java, Duration time) {
        try {
            var streamed = (long) (java.bandwidth().messagesPerSecond() * time.toMillis() / 1000);
            var median = run(Measure.LATENCY, java, java.latency().samples());
            var bandwidth = run(Measure.BANDWIDTH, java, streamed);
            return new BaselineComparison(
                    java,
                    Optional.of(new BaselineComparison.Figures(median, bandwidth * MEBI_PER_MEGA)),
                    Optional.empty());
        } catch (IOException e) {
            return BaselineComparison.unavailable(java, e.getMessage());
        }
    }

    /**
     * Runs perftest, and repeats the run if perftest could not determine the clock frequency of the
     * processor.
     */
    private double run(Measure measure, Result java, long count) throws IOException {
        for (var attempt = 1; ; attempt++) {
            try {
                return runOnce(measure, java, count);
            } catch (NumberFormatException e) {
                if (attempt == ATTEMPTS) {
                    throw new IOException(
                            "perftest cannot determine the clock frequency of the processor", e);
                }
            }
        }
    }

    private double runOnce(Measure measure, Result java, long count) throws IOException {
        var server =
                command(
                        measure,
                        java.path(),
                        java.bytes(),
                        Math.clamp(count, MIN_ITERATIONS, MAX_ITERATIONS));
        var client = new ArrayList<>(server);
        client.add("127.0.0.1");
        return figure(measure, programs.run(server, client, NOT_LISTENING), client);
    }

    private List<String> command(Measure measure, String path, int bytes, long count)
            throws IOException {
        var program = NAMES.get(path) + measure.suffix;
        var words =
                new ArrayList<>(
                        List.of(
                                programs.find(program).map(Path::toString).orElse(program),
                                "--ib-dev=" + device,
                                "--gid-index=" + gidIndex,
                                "--size=" + bytes,
                                "--iters=" + count,
                                "--port=" + FreePorts.of(1).getFirst(),
                                // The option suppresses a warning about CPU frequencies.
                                "--CPU-freq"));
        if (!path.equals("read")) {
            words.add("--inline_size=0");
        }
        if (measure == Measure.BANDWIDTH) {
            words.addAll(List.of("--tx-depth=" + RdmaConnection.DEPTH, "--cq-mod=1"));
        }
        return words;
    }

    /**
     * Returns the result in the output of a perftest program.
     *
     * @throws NumberFormatException if the program printed {@code inf} or {@code nan}
     */
    private static double figure(Measure measure, String output, List<String> command)
            throws IOException {
        return output.lines()
                .filter(FIGURES.asMatchPredicate())
                .map(line -> line.strip().split("\\s+"))
                .filter(words -> words.length > measure.column)
                .map(words -> Double.parseDouble(words[measure.column]))
                .findFirst()
                .orElseThrow(() ->
                        new IOException(
                                "\"%s\" printed no result: %s"
                                        .formatted(String.join(" ", command), output.strip())));
    }
}
