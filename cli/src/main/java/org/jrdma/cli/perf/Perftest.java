package org.jrdma.cli.perf;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The programs of perftest, both sides on this machine: {@code ib_write_lat}, {@code ib_write_bw}
 * and so on, told to do what this command does, with messages of the same size, as many of them, as
 * many under way, each with a completion, none inline.
 *
 * @param device what they send over
 * @param gidIndex the row of its GID table that this command chooses
 * @param folders where programs are looked for
 */
record Perftest(String device, int gidIndex, List<Path> folders) {

    private static final String PACKAGE = "perftest";
    private static final Map<String, String> NAMES =
            Map.of("write", "ib_write", "read", "ib_read", "send", "ib_send");

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Duration PAUSE = Duration.ofMillis(50);
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

    /** The folders of the environment's PATH. */
    static List<Path> installed() {
        return Arrays.stream(
                        Objects.requireNonNullElse(System.getenv("PATH"), "")
                                .split(File.pathSeparator, -1))
                .filter(folder -> !folder.isEmpty())
                .map(Path::of)
                .toList();
    }

    /** Why it has nothing to compare a path with; empty if it has. */
    Optional<String> whyNot(String path) {
        var name = NAMES.get(path);
        if (name == null) {
            return Optional.of("there is no such program in C");
        }
        return Arrays.stream(Measure.values())
                .map(measure -> name + measure.suffix)
                .filter(program -> find(program).isEmpty())
                .findFirst()
                .map(program ->
                        "%s is not installed; the package %s has it".formatted(program, PACKAGE));
    }

    private Optional<Path> find(String program) {
        return folders.stream()
                .map(folder -> folder.resolve(program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Does as was done in Java. */
    InC compare(Result java, Duration time) {
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
        var end = System.nanoTime() + PATIENCE.toNanos();
        try (var serving = new Running(server)) {
            while (true) {
                try (var calling = new Running(client)) {
                    var said = calling.await(end);
                    if (!said.contains(NOBODY_THERE) || !serving.process.isAlive()) {
                        return figure(measure, said, client);
                    }
                }
                if (System.nanoTime() - end > 0) {
                    throw new IOException(String.join(" ", server) + " does not listen");
                }
                pause();
            }
        }
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private List<String> command(Measure measure, String path, int bytes, long count)
            throws IOException {
        var program = NAMES.get(path) + measure.suffix;
        var words =
                new ArrayList<>(
                        List.of(
                                find(program).map(Path::toString).orElse(program),
                                "--ib-dev=" + device,
                                "--gid-index=" + gidIndex,
                                "--size=" + bytes,
                                "--iters=" + count,
                                "--port=" + freePort(),
                                "--CPU-freq")); // a warning less
        if (!path.equals("read")) {
            words.add("--inline_size=0");
        }
        if (measure == Measure.BANDWIDTH) {
            words.addAll(List.of("--tx-depth=" + RdmaSide.DEPTH, "--cq-mod=1"));
        }
        return words;
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
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

    /** A program that is ended when nobody needs it any more. */
    private static final class Running implements AutoCloseable {

        private final Path output;
        private final Process process;

        Running(List<String> command) throws IOException {
            output = Files.createTempFile("perftest", ".txt");
            process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start();
        }

        String await(long end) throws IOException {
            try {
                if (!process.waitFor(Duration.ofNanos(end - System.nanoTime()))) {
                    throw new IOException("perftest does not end: " + Files.readString(output));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            }
            return Files.readString(output);
        }

        @Override
        public void close() throws IOException {
            process.destroyForcibly().onExit().join();
            Files.delete(output);
        }
    }
}
