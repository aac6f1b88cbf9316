package org.jrdma.sockets.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jrdma.ffi.BlockingCalls;

/**
 * Reads the counters of the SuperSockets driver by running a program of the driver.
 *
 * @param programs the paths at which the program may be installed
 */
public record SuperSocketsCounters(List<Path> programs) {

    private static final String NAME = "dis_ssocks_stat";
    private static final long TIMEOUT_SECONDS = 5;

    public static SuperSocketsCounters installed() {
        var path = Objects.requireNonNullElse(System.getenv("PATH"), "");
        return new SuperSocketsCounters(
                Stream.concat(
                                Arrays.stream(path.split(":", -1)).filter(dir -> !dir.isEmpty()),
                                Stream.of("/opt/DIS/bin", "/opt/DIS/sbin"))
                        .map(folder -> Path.of(folder, NAME))
                        .toList());
    }

    /**
     * Runs the first program that exists and returns its output; empty if none exists. If the
     * program fails, returns a message with the reason.
     */
    public Optional<String> read() {
        return programs.stream()
                .filter(Files::isExecutable)
                .findFirst()
                .map(program -> BlockingCalls.call(() -> run(program)));
    }

    private static String run(Path program) {
        try {
            var output = Files.createTempFile(NAME, "");
            try {
                return run(program, output);
            } finally {
                Files.delete(output);
            }
        } catch (IOException e) {
            return "%s cannot be started: %s".formatted(program, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "Interrupted while waiting for " + program;
        }
    }

    private static String run(Path program, Path output) throws IOException, InterruptedException {
        var process =
                new ProcessBuilder(program.toString(), "-G")
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            return "%s did not end within %d seconds".formatted(program, TIMEOUT_SECONDS);
        }
        var printed = Files.readString(output, StandardCharsets.ISO_8859_1);
        return process.exitValue() == 0
                ? printed
                : "%s failed: %s".formatted(program, printed.strip());
    }
}
