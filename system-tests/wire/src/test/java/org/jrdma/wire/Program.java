package org.jrdma.wire;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A process that a test has started. It ends with the test at the latest. */
final class Program implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /** As the kernel's tables say it. */
    private static final String LISTENING = "0A";

    private final List<String> command;
    private final Path output;
    private final Process process;

    private Program(Map<String, String> environment, List<String> command) throws IOException {
        this.command = command;
        this.output = Files.createTempFile("program", ".txt");
        var builder =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        this.process = builder.start();
    }

    static Program start(List<String> command) throws IOException {
        return start(Map.of(), command);
    }

    static Program start(Map<String, String> environment, List<String> command) throws IOException {
        return new Program(environment, command);
    }

    /** Waits until it listens on a port. A server that takes one caller cannot be asked. */
    void awaitListening(int port) throws IOException, InterruptedException {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!isListening(port)) {
            if (!process.isAlive() || System.nanoTime() - deadline > 0) {
                throw new AssertionError(this + " does not listen: " + output());
            }
            Thread.sleep(Duration.ofMillis(20));
        }
    }

    /** In the network namespace that the process is in. */
    private boolean isListening(int port) throws IOException {
        var row =
                Pattern.compile(" *\\d+: \\p{XDigit}+:%04X \\S+ %s .*".formatted(port, LISTENING));
        for (var name : List.of("tcp", "tcp6")) {
            var table = Path.of("/proc/%d/net/%s".formatted(process.pid(), name));
            if (Files.readAllLines(table).stream().anyMatch(line -> row.matcher(line).matches())) {
                return true;
            }
        }
        return false;
    }

    /** Waits for its end. Returns its exit code. */
    int await() throws IOException, InterruptedException {
        if (!process.waitFor(PATIENCE)) {
            throw new AssertionError(this + " does not end: " + output());
        }
        return process.exitValue();
    }

    /** What it has written up to now, errors included. */
    String output() throws IOException {
        return Files.readString(output, UTF_8);
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly().onExit().join();
        Files.delete(output);
    }

    @Override
    public String toString() {
        return String.join(" ", command);
    }
}
