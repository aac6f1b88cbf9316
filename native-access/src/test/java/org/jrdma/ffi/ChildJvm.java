package org.jrdma.ffi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Runs the main method of a test class in a separate JVM, for behavior that depends on JVM options.
 */
public final class ChildJvm {

    private static final long TIMEOUT_SECONDS = 60;
    private static final String TEST_CLASSES = Path.of("target/test-classes").toString();

    private ChildJvm() {}

    /** The exit code and the output of a JVM. */
    public record Result(int exitCode, String output) {}

    /** Runs the main method with all classes on the class path. */
    public static Result onClassPath(Class<?> main, String... options)
            throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(options));
        command.addAll(List.of("-cp", path(TEST_CLASSES, modulePath(), classPath())));
        command.add(main.getName());
        return run(command);
    }

    /**
     * Runs the main method in the tested module, which is on the module path and patched with the
     * test classes.
     */
    public static Result onModulePath(Class<?> main, String... options)
            throws IOException, InterruptedException {
        var module = main.getModule().getName();
        var command = new ArrayList<>(List.of(options));
        command.addAll(
                List.of(
                        "--module-path",
                        modulePath(),
                        "--class-path",
                        classPath(),
                        "--patch-module",
                        module + "=" + TEST_CLASSES,
                        "-m",
                        module + "/" + main.getName()));
        return run(command);
    }

    private static Result run(List<String> arguments) throws IOException, InterruptedException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"));
        command.addAll(arguments);
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        var watchdog =
                Thread.ofVirtual()
                        .start(() -> {
                            try {
                                if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                                    process.destroyForcibly();
                                }
                            } catch (InterruptedException _) {
                                // the process has ended
                            }
                        });
        var output = new String(process.getInputStream().readAllBytes(), UTF_8);
        var exitCode = process.waitFor();
        watchdog.interrupt();
        return new Result(exitCode, output);
    }

    private static String modulePath() {
        return System.getProperty("jdk.module.path", "");
    }

    private static String classPath() {
        return System.getProperty("java.class.path", "");
    }

    private static String path(String... paths) {
        return Stream.of(paths)
                .filter(path -> !path.isEmpty())
                .collect(Collectors.joining(File.pathSeparator));
    }
}
