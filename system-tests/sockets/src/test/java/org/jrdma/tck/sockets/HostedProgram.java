package org.jrdma.tck.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.sockets.model.Connection;

/** A program in a separate JVM that uses the same transport as this JVM. A test can kill it. */
final class HostedProgram implements AutoCloseable {

    private static final List<String> PROPERTIES =
            List.of(
                    "java.nio.channels.spi.SelectorProvider",
                    "jrdma.fabric",
                    "jrdma.sisci.fabric",
                    "jrdma.sisci.node",
                    "jrdma.sockets.transports",
                    "jrdma.sockets.supersockets.family",
                    "org.slf4j.simpleLogger.defaultLogLevel");

    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    private final Path log;
    private final Process process;
    private final BufferedReader answers;

    private HostedProgram(Path log, Process process) {
        this.log = log;
        this.process = process;
        this.answers = process.inputReader(UTF_8);
    }

    /**
     * Starts a main class.
     *
     * @param log the file for its output
     * @param mainClass the main class
     * @param arguments the arguments of the program
     * @param options the options of the JVM
     */
    static HostedProgram start(
            Path log, String mainClass, List<String> arguments, String... options)
            throws IOException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.add("--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of(options));
        for (var property : PROPERTIES) {
            var value = System.getProperty(property);
            if (value != null) {
                command.add("-D%s=%s".formatted(property, value));
            }
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(StreamReportingMain.class.getName());
        command.add(mainClass);
        command.addAll(arguments);
        return new HostedProgram(
                log,
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                        .start());
    }

    /** Waits until the program accepts connections at a port. */
    void awaitListening(int port) throws IOException, InterruptedException {
        var deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (true) {
            try (var _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return;
            } catch (ConnectException e) {
                if (!process.isAlive() || System.nanoTime() - deadline > 0) {
                    throw new IOException("The program does not listen: " + output(), e);
                }
            }
            Thread.sleep(100);
        }
    }

    /**
     * Returns the streams that the program reports. With {@link StreamReportingMain#REPORT_CLOSED},
     * the program also reports its closed streams.
     */
    List<Connection> connections() throws IOException {
        var requests = process.outputWriter(UTF_8);
        requests.write("connections\n");
        requests.flush();
        var connections = new ArrayList<Connection>();
        for (var line = answers.readLine();
                !StreamReportingMain.END.equals(line);
                line = answers.readLine()) {
            if (line == null) {
                throw new IOException("The program has ended: " + output());
            }
            connections.add(read(line));
        }
        return connections;
    }

    private static Connection read(String line) {
        var words = line.split(" ", -1);
        var peer =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]));
        return new Connection(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                peer,
                false,
                words[1],
                "",
                Long.parseLong(words[2]),
                Long.parseLong(words[3]),
                Instant.EPOCH);
    }

    /** Returns the output of the program so far. */
    String output() throws IOException {
        return Files.readString(log);
    }

    boolean isRunning() {
        return process.isAlive();
    }

    /** Kills the program immediately. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
