package org.jrdma.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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

    /** The launcher at the top of the repository, with a JVM that is small and quick to start. */
    static Program launch(String... arguments) throws IOException {
        return launchWith(Path.of(System.getProperty("java.home")), arguments);
    }

    /** The launcher, with the JDK in that folder. */
    static Program launchWith(Path jdk, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(root().resolve("jrdma").toString()));
        command.addAll(List.of(arguments));
        return start(
                Map.of(
                        "JAVA_HOME",
                        jdk.toString(),
                        "JRDMA_JAVA_OPTIONS",
                        "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"),
                command);
    }

    /** An example, on the class path of the tests. */
    static Program example(Class<?> example, String... arguments) throws IOException {
        return example(Map.of(), example, arguments);
    }

    static Program example(Map<String, String> environment, Class<?> example, String... arguments)
            throws IOException {
        var command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "--class-path",
                                System.getProperty("java.class.path"),
                                example.getName()));
        command.addAll(List.of(arguments));
        return start(environment, command);
    }

    private static Path root() {
        var folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("jrdma"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    /** Waits until it listens on a port. A server that takes one caller cannot be asked. */
    void awaitListening(int port) throws IOException, InterruptedException {
        await(() -> isListening(port), "listens on port " + port);
    }

    /** Waits until it has written something. */
    void awaitOutput(String part) throws IOException, InterruptedException {
        await(() -> output().contains(part), "says " + part);
    }

    private void await(Condition condition, String description)
            throws IOException, InterruptedException {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.holds()) {
            if (!isRunning() || System.nanoTime() - deadline > 0) {
                throw new AssertionError(
                        "Waited until %s %s: %s".formatted(this, description, output()));
            }
            Thread.sleep(Duration.ofMillis(50));
        }
    }

    @FunctionalInterface
    private interface Condition {
        boolean holds() throws IOException;
    }

    boolean isRunning() {
        return process.isAlive();
    }

    private static boolean isListening(int port) throws IOException {
        var row =
                Pattern.compile(" *\\d+: \\p{XDigit}+:%04X \\S+ %s .*".formatted(port, LISTENING));
        for (var table : List.of("/proc/net/tcp", "/proc/net/tcp6")) {
            if (Files.readAllLines(Path.of(table)).stream()
                    .anyMatch(line -> row.matcher(line).matches())) {
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
