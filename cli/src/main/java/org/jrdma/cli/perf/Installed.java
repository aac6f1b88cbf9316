package org.jrdma.cli.perf;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Programs that may be installed here, of which both sides are run.
 *
 * @param folders where they are looked for
 */
record Installed(List<Path> folders) {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Duration PAUSE = Duration.ofMillis(50);

    /** In the folders of the environment's PATH. */
    static Installed inPath() {
        return new Installed(
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

    /** Why it cannot be run, with the package that has it; empty if it can. */
    Optional<String> whyNot(String program, String itsPackage) {
        return find(program).isPresent()
                ? Optional.empty()
                : Optional.of(
                        "%s is not installed; the package %s has it"
                                .formatted(program, itsPackage));
    }

    static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /**
     * Runs a server, and a client until it finds it.
     *
     * @param nobodyThere what the client says before the server listens
     * @return what the client says in the end
     */
    String run(List<String> server, List<String> client, String nobodyThere) throws IOException {
        var end = System.nanoTime() + PATIENCE.toNanos();
        try (var serving = new Running(server)) {
            while (true) {
                try (var calling = new Running(client)) {
                    var said = calling.await(end);
                    if (!said.contains(nobodyThere) || !serving.process.isAlive()) {
                        return said;
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

    /** A program that is ended when nobody needs it any more. */
    private static final class Running implements AutoCloseable {

        private final List<String> command;
        private final Path output;
        private final Process process;

        Running(List<String> command) throws IOException {
            this.command = command;
            output = Files.createTempFile("program", ".txt");
            process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start();
        }

        String await(long end) throws IOException {
            try {
                if (!process.waitFor(Duration.ofNanos(end - System.nanoTime()))) {
                    throw new IOException(
                            "%s does not end: %s"
                                    .formatted(
                                            String.join(" ", command), Files.readString(output)));
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
