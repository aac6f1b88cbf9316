package org.jrdma.cli.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.processes.Program;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the command net with JVMs of two users. The tests run only as root, which can start
 * processes of another user.
 */
@Tag("packaged")
class OtherUserTest {

    private static final String STREAMS = SelfConnectedProgram.class.getName();
    private static final List<String> AS_NOBODY =
            List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups");

    /** A folder that all users can read. */
    @TempDir private Path folder;

    @BeforeEach
    void copyPrograms() throws Exception {
        assumeThat(Files.getAttribute(Path.of("/proc/self"), "unix:uid")).isEqualTo(0);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.copy(Path.of("target", "jrdma.jar"), folder.resolve("jrdma.jar"));
        var program = Path.of(STREAMS.replace('.', '/') + ".class");
        Files.createDirectories(folder.resolve(program).getParent());
        Files.copy(Path.of("target", "test-classes").resolve(program), folder.resolve(program));
    }

    private Program start(List<String> user, String... words) throws Exception {
        var java =
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        folder.resolve("jrdma.jar") + ":" + folder);
        return Program.start(Stream.of(user, java, List.of(words)).flatMap(List::stream).toList());
    }

    @Test
    void shouldListTheConnectionsOfAnotherUsersJvmForRoot() throws Exception {
        try (var target = start(AS_NOBODY, STREAMS, "tcp")) {
            target.awaitOutput("ready");
            try (var net = start(List.of(), "org.jrdma.cli.Jrdma", "net", "-p", target.pid())) {
                assertThat(net.await()).as(net.output()).isZero();

                assertThat(net.output())
                        .startsWith("process %s, %s\n".formatted(target.pid(), STREAMS))
                        .contains("tcp: 1 (at ");
            }
        }
    }

    /** The JVM uses no sockets. A command that attached to it would omit it. */
    @Test
    void shouldQueryAnotherUsersJvmOnlyIfItIsNamed() throws Exception {
        try (var target = start(AS_NOBODY, STREAMS)) {
            target.awaitOutput("ready");
            try (var net = start(List.of(), "org.jrdma.cli.Jrdma", "net")) {
                assertThat(net.await()).as(net.output()).isZero();

                assertThat(net.output())
                        .contains(
                                "process %1$s, %2$s: unknown: owned by user nobody; use --pid %1$s to query this process\n"
                                        .formatted(target.pid(), STREAMS));
            }
        }
    }

    @Tag("slow")
    @Test
    void shouldReportTheOwnerOfAJvmThatCannotBeQueried() throws Exception {
        try (var target = start(List.of(), STREAMS, "tcp")) {
            target.awaitOutput("ready");
            try (var net = start(AS_NOBODY, "org.jrdma.cli.Jrdma", "net", "-p", target.pid())) {
                assertThat(net.await()).as(net.output()).isOne();

                assertThat(net.output())
                        .contains(
                                "process %s, %s: unknown: ".formatted(target.pid(), STREAMS),
                                " (owned by user root): ",
                                "-Djrdma.sockets.report=FILE");
            }
        }
    }
}
