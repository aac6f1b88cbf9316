package org.jrdma.tck.software;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process with a main class of these tests. It is killed when the test ends. */
final class ChildJvm implements AutoCloseable {

    private final Process process;
    private final BufferedReader output;
    private final List<String> said = new ArrayList<>();

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
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return new ChildJvm(command);
    }

    /** Waits for the next line of output on either stream. */
    String line() throws IOException {
        var line = output.readLine();
        if (line == null) {
            throw failure("The child has ended");
        }
        said.add(line);
        return line;
    }

    /** Waits for the next line of output, which must start with a prefix. */
    String line(String beginning) throws IOException {
        var line = line();
        if (!line.startsWith(beginning)) {
            throw failure("The child says something else than \"" + beginning + "\"");
        }
        return line;
    }

    void tell(String line) {
        try {
            var input = process.outputWriter(UTF_8);
            input.write(line + "\n");
            input.flush();
        } catch (IOException e) {
            var failure = failure("The child does not hear \"" + line + "\"");
            failure.addSuppressed(e);
            throw failure;
        }
    }

    /** Returns a failure with all output, including that of a process which is about to end. */
    private AssertionError failure(String what) {
        process.onExit().completeOnTimeout(process, 5, TimeUnit.SECONDS).join();
        process.toHandle()
                .destroyForcibly(); // the process's own stream would be closed while it is read
        process.onExit().join();
        output.lines().forEach(said::add);
        return new AssertionError(
                "%s; its exit code is %d, its words were:%n%s"
                        .formatted(
                                what,
                                process.exitValue(),
                                String.join(System.lineSeparator(), said)));
    }

    /** Kills the process by SIGKILL. */
    void kill() {
        process.destroyForcibly();
    }

    /** Waits until the process ends, and asserts exit code 0. */
    void end() throws InterruptedException {
        if (!process.waitFor(Duration.ofSeconds(60))) {
            throw failure("The child does not end");
        }
        if (process.exitValue() != 0) {
            throw failure("The child has failed");
        }
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
