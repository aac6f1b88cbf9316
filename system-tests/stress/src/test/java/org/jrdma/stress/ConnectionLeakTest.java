package org.jrdma.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that closed connections leave no heap, descriptors, threads or native memory behind, with
 * {@link ConnectionCycles}. {@code -Djrdma.leak.connections=20000} runs the long form, and prints
 * the figures of leaks.md.
 */
@Tag("slow")
class ConnectionLeakTest {

    private static final Duration TIMEOUT = Duration.ofMinutes(20);
    private static final int CONNECTIONS = Integer.getInteger("jrdma.leak.connections", 1_000);

    @TempDir private Path folder;

    /** {@link KernelConnectionLeakTest} tests the other kinds. */
    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"SOCKET_RSOCKET", "SOCKET_SMC"})
    void shouldHoldNoMoreResourcesAfterManyConnections(ConnectionCycles.Kind kind)
            throws Exception {
        var hosts = Files.writeString(folder.resolve("hosts"), "");
        var fabric = Files.createDirectory(folder.resolve("fabric"));
        assertFlat(
                kind,
                folder,
                List.of(
                        "-Djrdma.fabric=software",
                        "-Djrdma.sisci.fabric=" + fabric,
                        "-Djrdma.sockets.sisci.hosts=" + hosts));
    }

    /**
     * Opens and closes connections in another JVM, and asserts that the resources which that JVM
     * holds have not grown.
     *
     * @param folder a folder for the output of the JVM
     */
    static void assertFlat(ConnectionCycles.Kind kind, Path folder, List<String> options)
            throws Exception {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-Xmx24m",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"));
        command.addAll(options);
        command.addAll(
                List.of(
                        "-cp",
                        System.getProperty("java.class.path"),
                        ConnectionCycles.class.getName(),
                        kind.name(),
                        Integer.toString(CONNECTIONS)));
        var output = folder.resolve("output");
        var process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        try {
            var ended = process.waitFor(TIMEOUT);

            System.out.print(Files.readString(output));
            assertThat(output).content().endsWith("FLAT\n");
            assertThat(ended).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }
}
