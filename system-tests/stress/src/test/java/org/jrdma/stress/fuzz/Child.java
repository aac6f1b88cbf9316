package org.jrdma.stress.fuzz;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM that a test starts. If the JVM crashes, the test fails and the other tests continue. */
final class Child {

    private static final Path FOLDER = Path.of("target", "fuzz").toAbsolutePath();

    private final String name;
    private final Path folder;
    private final Process process;

    private Child(String name, Path folder, Process process) {
        this.name = name;
        this.folder = folder;
        this.process = process;
    }

    /** Starts a program. The prefix is a command such as prlimit that starts the JVM. */
    static Child start(
            String name,
            List<String> prefix,
            List<String> jvmOptions,
            Class<?> main,
            List<String> arguments)
            throws IOException {
        var folder = FOLDER.resolve(name);
        Files.createDirectories(folder);
        try (var old = Files.list(folder)) {
            for (var file : old.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }
        var command = new ArrayList<>(prefix);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-ea",
                        "-XX:ErrorFile=hs_err.log",
                        "-XX:-CreateCoredumpOnCrash",
                        "-XX:+UseSerialGC",
                        // The sizes of the heap and of the process must not depend on which pages
                        // of the heap were used, and on when it was last compacted.
                        "-Xms256m",
                        "-Xmx256m",
                        "-XX:+AlwaysPreTouch",
                        "-XX:MarkSweepAlwaysCompactCount=1",
                        "-Djrdma.leaks=off",
                        "-Djdk.net.hosts.file=/dev/null", // Name resolution must not wait for DNS.
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                        "--enable-native-access=ALL-UNNAMED"));
        command.addAll(jvmOptions);
        command.addAll(List.of("-cp", absoluteClassPath(), main.getName()));
        command.addAll(arguments);
        var builder =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("output.txt").toFile());
        // Otherwise, the C library keeps freed memory for each thread.
        builder.environment().put("MALLOC_ARENA_MAX", "1");
        var process = builder.start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        return new Child(name, folder, process);
    }

    private static String absoluteClassPath() {
        var paths = new ArrayList<String>();
        for (var path : System.getProperty("java.class.path").split(":", -1)) {
            paths.add(Path.of(path).toAbsolutePath().toString());
        }
        return String.join(":", paths);
    }

    Process process() {
        return process;
    }

    String output() throws IOException {
        return Files.readString(folder.resolve("output.txt"));
    }

    /** Waits until the program prints a line with a prefix. Returns the rest of the line. */
    String lineAfter(String prefix) throws IOException, InterruptedException {
        return lineAfter(prefix, 0);
    }

    /**
     * Waits until the program has printed {@code others + 1} lines with a prefix. Returns the rest
     * of the last of these lines.
     */
    String lineAfter(String prefix, int others) throws IOException, InterruptedException {
        var end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (System.nanoTime() < end && process.isAlive()) {
            var line =
                    output().lines()
                            .filter(each -> each.startsWith(prefix))
                            .skip(others)
                            .findFirst();
            if (line.isPresent()) {
                return line.get().substring(prefix.length());
            }
            Thread.sleep(10);
        }
        return fail("%s did not print \"%s\".%n%s", name, prefix, output());
    }

    /** Waits for the end. Fails unless the program ended with the exit code 0. */
    String awaitSuccess(Duration timeout) throws IOException, InterruptedException {
        try {
            if (!process.waitFor(timeout.toSeconds(), TimeUnit.SECONDS)) {
                fail("%s has not ended after %s.%n%s", name, timeout, output());
            }
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0) {
            fail("%s ended with exit code %d.%n%s%s", name, process.exitValue(), output(), crash());
        }
        return output();
    }

    /**
     * Returns the report of a crash and the last calls of each thread. A JVM that has crashed ends
     * with the exit code 1, because it creates no core dump.
     */
    private String crash() throws IOException {
        var report = folder.resolve("hs_err.log");
        if (process.exitValue() < 128 && !Files.exists(report)) {
            return "";
        }
        var text = new StringBuilder();
        if (Files.exists(report)) {
            Files.readAllLines(report).stream()
                    .limit(120)
                    .forEach(line -> text.append(line).append('\n'));
        }
        try (var files = Files.list(folder)) {
            for (var file : files.sorted().toList()) {
                if (file.getFileName().toString().startsWith("trace-")) {
                    text.append(file.getFileName())
                            .append(":\n    ")
                            .append(CallTrace.read(file))
                            .append('\n');
                }
            }
        }
        return text.toString();
    }
}
