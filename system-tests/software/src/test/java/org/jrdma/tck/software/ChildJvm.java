package org.jrdma.tck.software;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A process of its own with a main class of these tests. It ends with the test at the latest. */
final class ChildJvm implements AutoCloseable {

    private final Process process;
    private final BufferedReader output;

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

    /** The next line that it says. */
    String line() throws IOException {
        var line = output.readLine();
        if (line == null) {
            throw new AssertionError("The child has ended");
        }
        return line;
    }

    /** The next line, which must begin like this; with all that follows if it does not. */
    String line(String beginning) throws IOException {
        var line = line();
        if (!line.startsWith(beginning)) {
            var rest = new StringBuilder(line);
            output.lines().forEach(more -> rest.append('\n').append(more));
            throw new AssertionError("Expected \"" + beginning + "\", not " + rest);
        }
        return line;
    }

    void tell(String line) throws IOException {
        var input = process.outputWriter(UTF_8);
        input.write(line + "\n");
        input.flush();
    }

    /** Kills it as {@code kill -9} does. */
    void kill() {
        process.destroyForcibly();
    }

    int exitCode() throws InterruptedException {
        if (!process.waitFor(Duration.ofSeconds(60))) {
            throw new AssertionError("The child does not end");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
