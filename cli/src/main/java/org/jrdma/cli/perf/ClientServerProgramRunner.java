package org.jrdma.cli.perf;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Finds installed programs, and runs a client and a server together.
 *
 * @param folders the folders to search
 */
record ClientServerProgramRunner(List<Path> folders) {

    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    private static final Duration RETRY_DELAY = Duration.ofMillis(50);

    /** Returns a runner that searches the folders of the environment variable PATH. */
    static ClientServerProgramRunner inPath() {
        return new ClientServerProgramRunner(
                Arrays.stream(
                                Objects.requireNonNullElse(System.getenv("PATH"), "")
                                        .split(File.pathSeparator, -1))
                        .filter(folder -> !folder.isEmpty())
                        .map(Path::of)
                        .toList());
    }

    Optional<Path> find(String program) {
        return folders.stream()
                .map(folder -> folder.resolve(program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Returns the reason why a program cannot be run, or empty if it is installed. */
    Optional<String> missing(String program, String packageName) {
        return find(program).isPresent()
                ? Optional.empty()
                : Optional.of(
                        "%s is not installed; it is in the package %s"
                                .formatted(program, packageName));
    }

    /**
     * Runs a server and a client. Repeats the run of the client until it can connect to the server.
     *
     * @param notListening a text that the client prints if it cannot connect
     * @return the output of the client in its last run
     */
    String run(List<String> server, List<String> client, String notListening) throws IOException {
        var end = System.nanoTime() + TIMEOUT.toNanos();
        try (var serving = new RunningProgram(server)) {
            while (true) {
                try (var calling = new RunningProgram(client)) {
                    var output = calling.await(end);
                    if (!output.contains(notListening) || !serving.process.isAlive()) {
                        return output;
                    }
                }
                if (System.nanoTime() - end > 0) {
                    throw new IOException(
                            "\"%s\" did not listen within %d s"
                                    .formatted(String.join(" ", server), TIMEOUT.toSeconds()));
                }
                Thread.sleep(RETRY_DELAY);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("The run of a C program was interrupted.", e);
        }
    }

    /** A running program, which {@link #close} terminates. */
    private static final class RunningProgram implements AutoCloseable {

        private final List<String> command;
        private final Path output;
        private final Process process;

        RunningProgram(List<String> command) throws IOException {
            this.command = command;
            output = Files.createTempFile("program", ".txt");
            process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start();
        }

        String await(long end) throws IOException, InterruptedException {
            if (!process.waitFor(Duration.ofNanos(end - System.nanoTime()))) {
                throw new IOException(
                        "\"%s\" did not end within %d s: %s"
                                .formatted(
                                        String.join(" ", command),
                                        TIMEOUT.toSeconds(),
                                        Files.readString(output)));
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
