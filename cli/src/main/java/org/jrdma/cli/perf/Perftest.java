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
 * The programs of perftest, both sides on this machine: {@code ib_write_lat}, {@code ib_write_bw}
 * and so on, told to do what this command does, with messages of the same size, as many of them, as
 * many under way, each with a completion, none inline.
 *
 * @param device what they send over
 * @param gidIndex the row of its GID table that this command chooses
 */
record Perftest(String device, int gidIndex, Installed programs) implements ProgramsInC {

    private static final String PACKAGE = "perftest";
    private static final Map<String, String> NAMES =
            Map.of("write", "ib_write", "read", "ib_read", "send", "ib_send");

    private static final int ATTEMPTS = 6;
    private static final long LEAST = 100;
    private static final long MOST = 100_000;
    private static final double MEBI_PER_MEGA = 1.048576;

    private static final Pattern FIGURES =
            Pattern.compile("\\s*\\d+\\s+\\d+(\\s+([\\d.]+|-?inf|-?nan)){3,}\\s*");
    private static final String NOBODY_THERE = "Couldn't connect";

    /** Where what a word in column {@code COLUMN} means stands in a line of figures. */
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
    public Optional<String> whyNot(String path) {
        var name = NAMES.get(path);
        if (name == null) {
            return Optional.of("there is no such program in C");
        }
        return Arrays.stream(Measure.values())
                .flatMap(measure -> programs.whyNot(name + measure.suffix, PACKAGE).stream())
                .findFirst();
    }

    @Override
    public InC compare(Result java, Duration time) {
        try {
            var streamed = (long) (java.bandwidth().messagesPerSecond() * time.toMillis() / 1000);
            var median = run(Measure.LATENCY, java, java.latency().samples());
            var bandwidth = run(Measure.BANDWIDTH, java, streamed);
            return new InC(
                    java,
                    Optional.of(new InC.Figures(median, bandwidth * MEBI_PER_MEGA)),
                    Optional.empty());
        } catch (IOException e) {
            return InC.missing(java, e.getMessage());
        }
    }

    /** Again, where it could not find out how fast the processor's clock is, and says so. */
    private double run(Measure measure, Result java, long count) throws IOException {
        for (var attempt = 1; ; attempt++) {
            try {
                return runOnce(measure, java, count);
            } catch (NumberFormatException e) {
                if (attempt == ATTEMPTS) {
                    throw new IOException("perftest cannot tell the frequency of the processor", e);
                }
            }
        }
    }

    private double runOnce(Measure measure, Result java, long count) throws IOException {
        var server = command(measure, java.path(), java.bytes(), Math.clamp(count, LEAST, MOST));
        var client = new ArrayList<>(server);
        client.add("127.0.0.1");
        return figure(measure, programs.run(server, client, NOBODY_THERE), client);
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
                                "--port=" + Installed.freePort(),
                                "--CPU-freq")); // a warning less
        if (!path.equals("read")) {
            words.add("--inline_size=0");
        }
        if (measure == Measure.BANDWIDTH) {
            words.addAll(List.of("--tx-depth=" + RdmaSide.DEPTH, "--cq-mod=1"));
        }
        return words;
    }

    /** Throws NumberFormatException where it is no number. */
    private static double figure(Measure measure, String said, List<String> command)
            throws IOException {
        return said.lines()
                .filter(FIGURES.asMatchPredicate())
                .map(line -> line.strip().split("\\s+"))
                .filter(words -> words.length > measure.column)
                .map(words -> Double.parseDouble(words[measure.column]))
                .findFirst()
                .orElseThrow(() ->
                        new IOException(
                                "%s gives no figures: %s"
                                        .formatted(String.join(" ", command), said.strip())));
    }
}
