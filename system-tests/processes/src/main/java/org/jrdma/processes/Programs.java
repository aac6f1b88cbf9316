package org.jrdma.processes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Starts the launcher and the example programs as processes. */
public final class Programs {

    private Programs() {}

    /**
     * Starts the launcher script {@code jrdma} of the repository, with JVM options that reduce the
     * start-up time and the memory.
     */
    public static Program launch(String... arguments) throws IOException {
        return launchWith(Path.of(System.getProperty("java.home")), arguments);
    }

    /** Starts the launcher script with the JDK in the given folder. */
    public static Program launchWith(Path jdk, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(root().resolve("jrdma").toString()));
        command.addAll(List.of(arguments));
        return Program.start(
                Map.of(
                        "JAVA_HOME",
                        jdk.toString(),
                        "JRDMA_JAVA_OPTIONS",
                        "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"),
                command);
    }

    /** Starts an example program with the class path of the tests. */
    public static Program example(Class<?> example, String... arguments) throws IOException {
        return example(Map.of(), example, arguments);
    }

    /** Starts an example program with additional environment variables. */
    public static Program example(
            Map<String, String> environment, Class<?> example, String... arguments)
            throws IOException {
        return example(environment, List.of(), example.getName(), arguments);
    }

    /** Starts an example program with additional options for {@code java}. */
    public static Program example(List<String> options, Class<?> example, String... arguments)
            throws IOException {
        return example(Map.of(), options, example.getName(), arguments);
    }

    /** Starts an example program by its class name, for tests that cannot refer to the class. */
    public static Program example(String mainClass, String... arguments) throws IOException {
        return example(Map.of(), List.of(), mainClass, arguments);
    }

    private static Program example(
            Map<String, String> environment,
            List<String> options,
            String mainClass,
            String... arguments)
            throws IOException {
        var command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "--class-path",
                                System.getProperty("java.class.path")));
        command.addAll(options);
        command.add(mainClass);
        command.addAll(List.of(arguments));
        return Program.start(environment, command);
    }

    private static Path root() {
        var folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("jrdma"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
