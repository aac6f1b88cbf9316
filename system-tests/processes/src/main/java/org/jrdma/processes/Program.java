package org.jrdma.processes;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A process that a test has started. {@link #close} kills it. */
public final class Program implements AutoCloseable {

    /** Machines of CI are up to ten times slower than quiet ones. */
    private static final Duration TIMEOUT = Duration.ofMinutes(4);

    /** The code of the state LISTEN in /proc/net/tcp. */
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

    /** Starts a command. */
    public static Program start(List<String> command) throws IOException {
        return start(Map.of(), command);
    }

    /** Starts a command with additional environment variables. */
    public static Program start(Map<String, String> environment, List<String> command)
            throws IOException {
        return new Program(environment, command);
    }

    /**
     * Waits until a process in the network namespace of this process listens on a port. The method
     * does not connect to the port, because some servers accept only one connection.
     */
    public void awaitListening(int port) throws IOException, InterruptedException {
        await(() -> isListening(port), "listened on port " + port);
    }

    /** Waits until the output of the process contains a text. */
    public void awaitOutput(String text) throws IOException, InterruptedException {
        await(() -> output().contains(text), "printed " + text);
    }

    private void await(Condition condition, String description)
            throws IOException, InterruptedException {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            var isLastCheck = !isRunning() || System.nanoTime() - deadline > 0;
            if (condition.holds()) {
                return;
            }
            if (isLastCheck) {
                throw new AssertionError(
                        "%s ended or timed out before it %s. Its output: %s"
                                .formatted(this, description, output()));
            }
            Thread.sleep(Duration.ofMillis(20));
        }
    }

    @FunctionalInterface
    private interface Condition {
        boolean holds() throws IOException;
    }

    /** Returns true if the process is still running. */
    public boolean isRunning() {
        return process.isAlive();
    }

    /** Returns the process ID as an argument for a command. */
    public String pid() {
        return Long.toString(process.pid());
    }

    /**
     * Returns true if any process in the network namespace of the started process listens on the
     * port.
     */
    private boolean isListening(int port) throws IOException {
        var row =
                Pattern.compile(" *\\d+: \\p{XDigit}+:%04X \\S+ %s .*".formatted(port, LISTENING));
        try {
            for (var name : List.of("tcp", "tcp6")) {
                var table = Path.of("/proc/%d/net/%s".formatted(process.pid(), name));
                if (Files.readAllLines(table).stream()
                        .anyMatch(line -> row.matcher(line).matches())) {
                    return true;
                }
            }
        } catch (NoSuchFileException e) {
            // The process has ended.
        }
        return false;
    }

    /** Waits until the process ends, and returns its exit code. */
    public int await() throws IOException, InterruptedException {
        if (!process.waitFor(TIMEOUT)) {
            throw new AssertionError(this + " did not end in time. Its output: " + output());
        }
        return process.exitValue();
    }

    /** Returns the output that the process has printed so far, including standard error. */
    public String output() throws IOException {
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
