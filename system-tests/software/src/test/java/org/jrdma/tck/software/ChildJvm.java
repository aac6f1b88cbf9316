package org.jrdma.tck.software;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A JVM that runs a program of these tests in a child process. The process is killed when this
 * object is closed.
 */
final class ChildJvm implements AutoCloseable {

    private final Process process;
    private final BufferedReader output;
    private final List<String> lines = new ArrayList<>();

    private ChildJvm(List<String> command) throws IOException {
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        output = process.inputReader(UTF_8);
    }

    static ChildJvm start(List<String> options, Class<?> main, String... arguments)
            throws IOException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return new ChildJvm(command);
    }

    /** Waits for the next line that the process prints to its standard output or error stream. */
    String line() throws IOException {
        var line = output.readLine();
        if (line == null) {
            throw failure("The child process has ended");
        }
        lines.add(line);
        return line;
    }

    /** Waits for the next line of output, and fails unless it starts with a prefix. */
    String line(String prefix) throws IOException {
        var line = line();
        if (!line.startsWith(prefix)) {
            throw failure("The child process has not printed \"" + prefix + "\"");
        }
        return line;
    }

    /** Writes a line to the standard input of the process. */
    void writeLine(String line) {
        try {
            var input = process.outputWriter(UTF_8);
            input.write(line + "\n");
            input.flush();
        } catch (IOException e) {
            var failure = failure("The child process does not read \"" + line + "\"");
            failure.addSuppressed(e);
            throw failure;
        }
    }

    /**
     * Creates an error with the exit code and the complete output of the process. Waits some
     * seconds for a process that is about to end, then kills it.
     */
    private AssertionError failure(String problem) {
        process.onExit().completeOnTimeout(process, 5, TimeUnit.SECONDS).join();
        // Process.destroyForcibly() would close the output stream before it is read.
        process.toHandle().destroyForcibly();
        process.onExit().join();
        output.lines().forEach(lines::add);
        return new AssertionError(
                "%s. Its exit code is %d. Its output was:%n%s"
                        .formatted(
                                problem,
                                process.exitValue(),
                                String.join(System.lineSeparator(), lines)));
    }

    /** Kills the process by SIGKILL. */
    void kill() {
        process.destroyForcibly();
    }

    /** Waits until the process ends, and asserts exit code 0. */
    void end() throws InterruptedException {
        if (!process.waitFor(Duration.ofSeconds(60))) {
            throw failure("The child process does not end");
        }
        if (process.exitValue() != 0) {
            throw failure("The child process has failed");
        }
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
