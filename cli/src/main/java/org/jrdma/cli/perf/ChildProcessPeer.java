package org.jrdma.cli.perf;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A peer that runs as a child process and ends with this process. */
public final class ChildProcessPeer implements Peer {

    // A string instead of a class reference, which would be a cycle between packages: the main
    // class depends on this package.
    private static final String MAIN_CLASS = "org.jrdma.cli.Jrdma";

    /** The hidden option that makes a command run as a child process. */
    public static final String OPTION = "--as-child";

    /**
     * The start of the line that a child process prints when it listens. The number of its port
     * follows.
     */
    static final String WAITING = "waiting on port ";

    private final Process process;
    private final InetSocketAddress address;

    private ChildProcessPeer(Process process, InetSocketAddress address) {
        this.process = process;
        this.address = address;
    }

    /**
     * Starts a command of jrdma in a child process. The child process has the same system
     * properties whose names start with {@code jrdma.} as this process.
     */
    static ChildProcessPeer start(String command, List<String> options) throws IOException {
        var words = new ArrayList<>(List.of(command, OPTION, "--serve", "0"));
        words.addAll(options);
        var process = start(words);
        try {
            return new ChildProcessPeer(process, addressOf(process));
        } catch (IOException e) {
            process.destroy();
            throw e;
        }
    }

    /** Starts jrdma with a command line in a child process. */
    public static Process start(List<String> commandLine) throws IOException {
        return start(commandLine, Map.of());
    }

    /**
     * Starts jrdma with a command line in a child process.
     *
     * @param properties system properties of the child process, which replace those of this process
     */
    static Process start(List<String> commandLine, Map<String, String> properties)
            throws IOException {
        var words = new ArrayList<String>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("jrdma."))
                .forEach(name -> words.add("-D%s=%s".formatted(name, System.getProperty(name))));
        properties.forEach((name, value) -> words.add("-D%s=%s".formatted(name, value)));
        var module = ChildProcessPeer.class.getModule();
        if (module.isNamed()) {
            words.addAll(
                    List.of(
                            "--enable-native-access=org.jrdma.ffi",
                            "--module-path",
                            System.getProperty("jdk.module.path"),
                            "--module",
                            module.getName() + "/" + MAIN_CLASS));
        } else {
            words.addAll(
                    List.of(
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            System.getProperty("java.class.path"),
                            MAIN_CLASS));
        }
        words.addAll(commandLine);
        return new ProcessBuilder(words).redirectError(Redirect.INHERIT).start();
    }

    private static InetSocketAddress addressOf(Process process) throws IOException {
        var line = nextLine(process);
        if (line == null || !line.startsWith(WAITING)) {
            throw new IOException(
                    "The child process ended before it was ready%s."
                            .formatted(line == null ? "" : ": " + line));
        }
        return new InetSocketAddress(
                InetAddress.getLoopbackAddress(),
                Integer.parseInt(line.substring(WAITING.length())));
    }

    /**
     * Returns the parts of the next line that a child process prints.
     *
     * @throws IOException if the process ends before, or prints no line in time, or another line
     */
    static Matcher awaitLine(Process process, Pattern pattern) throws IOException {
        var line = nextLine(process);
        var parts = pattern.matcher(line == null ? "" : line);
        if (!parts.find()) {
            throw new IOException(
                    line == null
                            ? "A child process ended early."
                            : "Unexpected output of a child process: " + line);
        }
        return parts;
    }

    /**
     * Returns the next line that a child process prints; null if the process ends before, or does
     * not print a line in time, which ends the process.
     */
    private static @Nullable String nextLine(Process process) throws IOException {
        var timeout =
                CompletableFuture.runAsync(
                        process::destroyForcibly,
                        CompletableFuture.delayedExecutor(
                                ControlChannel.TIMEOUT.toSeconds(), TimeUnit.SECONDS));
        try {
            return process.inputReader(UTF_8).readLine();
        } finally {
            timeout.cancel(false);
        }
    }

    /** Exits this child process when its input ends, which happens when the parent exits. */
    public static void exitWithParent() {
        Thread.ofPlatform()
                .daemon()
                .name("jrdma-parent")
                .start(() -> {
                    try {
                        while (System.in.read() >= 0) {
                            // The parent writes nothing.
                        }
                    } catch (IOException _) {
                        // A failure is treated as the end of the input.
                    }
                    System.exit(0);
                });
    }

    @Override
    public InetSocketAddress address() {
        return address;
    }

    @Override
    public void close() throws IOException {
        close(process);
    }

    /** Ends a child process. */
    static void close(Process process) throws IOException {
        // Closing its input makes the child exit and release its resources.
        process.getOutputStream().close();
        try {
            if (!process.waitFor(ControlChannel.TIMEOUT)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException _) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
