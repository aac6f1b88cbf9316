package org.jrdma.volume.history;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * A Java program in a process of its own, which a test kills, stops and starts again. Its output is
 * appended to a log. The program ends when its standard input ends, as it does with the test.
 */
class JavaProcess {

    private static final int LAST_CHARS = 3000;

    private final Path log;
    private final List<String> command;
    private Process process;
    private volatile boolean isKilled;
    private long readBytes;

    JavaProcess(Path log, Class<?> program, String... arguments) throws IOException {
        this.log = log;
        this.command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-Xmx256m",
                                "--enable-native-access=ALL-UNNAMED",
                                "-Dorg.slf4j.simpleLogger.showDateTime=true",
                                "-cp",
                                System.getProperty("java.class.path"),
                                program.getName()));
        command.addAll(List.of(arguments));
        start();
    }

    final void start() throws IOException {
        isKilled = false;
        process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(Redirect.appendTo(log.toFile()))
                        .start();
    }

    final void kill() throws InterruptedException {
        isKilled = true;
        process.destroyForcibly();
        var _ = process.waitFor();
    }

    final boolean isAlive() {
        return process.isAlive();
    }

    /** Throws if the program has ended, and was not killed. */
    final void checkAlive() {
        if (!isAlive() && !isKilled) {
            throw new AssertionError("%s has ended: %s".formatted(this, lastLines()));
        }
    }

    private String lastLines() {
        try {
            var text = Files.readString(log);
            return text.substring(Math.max(0, text.length() - LAST_CHARS));
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Waits until the program ends by itself. */
    final boolean awaitEnd(Duration timeout) throws InterruptedException {
        return process.waitFor(timeout) && process.exitValue() == 0;
    }

    /** Sends a signal, such as CONT. */
    final void signal(String name) throws IOException, InterruptedException {
        execute("kill", "-" + name, Long.toString(process.pid()));
    }

    /**
     * Stops the program while it does not hold the lock of the software fabric. All other processes
     * would otherwise wait for it, which hardware does not need.
     */
    final void stop(Path fabric) throws IOException, InterruptedException {
        execute("flock", fabric.toString(), "kill", "-STOP", Long.toString(process.pid()));
    }

    private static void execute(String... words) throws IOException, InterruptedException {
        var _ = new ProcessBuilder(words).start().waitFor(); // the program may have ended
    }

    /** Writes a line to the standard input of the program. */
    final void send(String line) throws IOException {
        var input = process.outputWriter(UTF_8);
        input.write(line + "\n");
        input.flush();
    }

    /** Returns the lines that were appended to the log since the last call. */
    final List<String> newLines() throws IOException {
        if (!Files.exists(log)) {
            return List.of();
        }
        try (var file = new RandomAccessFile(log.toFile(), "r")) {
            var bytes = new byte[(int) (file.length() - readBytes)];
            file.seek(readBytes);
            file.readFully(bytes);
            var text = new String(bytes, UTF_8);
            var complete = text.substring(0, text.lastIndexOf('\n') + 1);
            readBytes += complete.getBytes(UTF_8).length;
            return complete.lines().toList();
        }
    }

    /** Ends this process when its standard input ends. */
    static void endWithInput() {
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    try {
                        while (System.in.read() >= 0) {
                            // no commands
                        }
                    } catch (IOException _) {
                        // the test has ended
                    }
                    Runtime.getRuntime().halt(1);
                });
    }

    /** Waits for a condition, which must become true in time. */
    static void await(String condition, Duration timeout, BooleanSupplier isTrue)
            throws InterruptedException {
        var end = System.nanoTime() + timeout.toNanos();
        while (!isTrue.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("%s was not true within %s".formatted(condition, timeout));
            }
            Thread.sleep(20);
        }
    }

    @Override
    public String toString() {
        return log.getFileName().toString();
    }
}
