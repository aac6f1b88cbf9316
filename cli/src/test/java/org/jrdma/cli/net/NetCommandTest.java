package org.jrdma.cli.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jrdma.cli.JrdmaInProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the command net with child JVMs that have connections to themselves. */
class NetCommandTest {

    private static final String NUMBER = "\\d+";

    /** The output for both ends of a connection whose client preferred SuperSockets. */
    private static final String TCP =
            """
              127\\.0\\.0\\.1
                 tcp: 1 \\(at N\\); 3 bytes received, 0 sent; since \\S+
                 tcp: 1 \\(to N\\) \\[fallback: supersockets: driver not loaded: .+\\]; 0 bytes received, 3 sent; since \\S+
            """
                    .replace("N", NUMBER);

    private static final String SISCI_AND_TCP =
            """
              127\\.0\\.0\\.1
                 sisci: 1 \\(at N\\); 3 bytes received, 0 sent; since \\S+
                 sisci: 1 \\(to N\\); 0 bytes received, 3 sent; since \\S+
            """
                            .replace("N", NUMBER)
                    + TCP.replaceFirst(".*\n", "");

    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    @TempDir private Path folder;

    private int run(String... arguments) {
        return JrdmaInProcess.run(output, errors, arguments);
    }

    private int run(Child child) {
        return run("net", "--pid", child.pid());
    }

    /** A child JVM that has a connection to itself over each of the given transports. */
    private final class Child implements AutoCloseable {

        private final Process process;

        Child(List<String> options, String... transports) throws IOException {
            this(options, SelfConnectedProgram.class, transports);
        }

        Child(List<String> options, Class<?> program, String... arguments) throws IOException {
            var hosts = Files.writeString(folder.resolve("hosts"), "");
            var fabric = Files.createDirectories(folder.resolve("fabric"));
            var command = new ArrayList<String>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(
                    List.of(
                            "-XX:TieredStopAtLevel=1",
                            "--enable-native-access=ALL-UNNAMED",
                            "-Djrdma.fabric=software",
                            "-Djrdma.sisci.fabric=" + fabric,
                            "-Djrdma.sockets.sisci.hosts=" + hosts));
            command.addAll(options);
            command.addAll(
                    List.of("-cp", System.getProperty("java.class.path"), program.getName()));
            command.addAll(List.of(arguments));
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
            awaitLine("ready");
        }

        private void awaitLine(String expected) throws IOException {
            for (var line = ""; !line.equals(expected); ) {
                line = process.inputReader().readLine();
                assertThat(line).as("the child's output").isNotNull();
            }
        }

        String pid() {
            return Long.toString(process.pid());
        }

        String title() {
            return "process %s, %s".formatted(pid(), SelfConnectedProgram.class.getName());
        }

        void end() throws Exception {
            process.getOutputStream().close();
            assertThat(process.waitFor()).isZero();
        }

        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
        }
    }

    @Test
    void shouldListTheConnectionsOfAnotherJvmByPeerAndTransport() throws Exception {
        try (var child = new Child(List.of(), "tcp", "sisci")) {
            assertThat(run(child)).as(errors.toString()).isZero();

            assertThat(output.toString())
                    .matches(Pattern.quote(child.title() + "\n") + SISCI_AND_TCP);
        }
    }

    @Tag("slow")
    @Test
    void shouldFindTheJvmAmongAllProcesses() throws Exception {
        try (var child = new Child(List.of(), "tcp")) {
            assertThat(run("net")).as(errors.toString()).isZero();

            assertThat(output.toString())
                    .containsPattern(Pattern.quote(child.title() + "\n") + TCP)
                    .doesNotContain("No JVM on this machine");
        }
    }

    @Test
    void shouldPrintJson() throws Exception {
        try (var child = new Child(List.of(), "tcp")) {
            assertThat(run("net", "--json", "--pid", child.pid())).isZero();

            assertThat(output.toString())
                    .startsWith(
                            "[{\"source\":null,\"process\":%s,\"program\":\"%s\",\"taken\":"
                                    .formatted(child.pid(), SelfConnectedProgram.class.getName()))
                    .contains("\"problem\":null,\"connections\":[{\"local\":\"127.0.0.1:")
                    .contains("\"transport\":\"tcp\",\"whyNotFaster\":\"supersockets: driver not")
                    .contains("\"bytesReceived\":3,\"bytesSent\":0,")
                    .hasLineCount(1);
        }
    }

    @Test
    void shouldReportThatNoJvmUsesTheSockets() throws Exception {
        try (var child = new Child(List.of())) {
            assertThat(run(child)).isZero();

            assertThat(output.toString()).isEqualTo("None of these JVMs uses jrdma sockets.\n");
            assertThat(errors.toString()).isEmpty();
        }
    }

    @Test
    void shouldSuggestAReportIfAttachIsDisabled() throws Exception {
        try (var child = new Child(List.of("-XX:+DisableAttachMechanism"), "tcp")) {
            assertThat(run(child)).isOne();

            assertThat(output.toString())
                    .startsWith(
                            "None of these JVMs that can be queried uses jrdma sockets.\n"
                                    + child.title()
                                    + ": unknown: attach failed: ")
                    .contains("-Djrdma.sockets.report=FILE", "-XX:StartFlightRecording")
                    .endsWith("Then run: jrdma net FILE\n");

            assertThat(run("net")).isZero(); // succeeds, because the caller did not name this JVM
            assertThat(output.toString()).contains(child.title() + ": unknown: ");
        }
    }

    @Tag("slow")
    @Test
    void shouldReadReportsAndFlightRecordings() throws Exception {
        var report = folder.resolve("report");
        var recording = folder.resolve("recording.jfr");
        try (var child =
                new Child(
                        List.of(
                                "-XX:+DisableAttachMechanism",
                                "-Djrdma.sockets.report=" + report,
                                "-XX:StartFlightRecording:filename=" + recording),
                        "tcp",
                        "sisci")) {
            child.end();

            assertThat(run("net", report.toString(), recording.toString()))
                    .as(errors.toString())
                    .isZero();

            assertThat(output.toString())
                    .matches(
                            Pattern.quote(child.title() + ", from " + report)
                                    + ", ended at \\S+Z\n"
                                    + SISCI_AND_TCP
                                    + Pattern.quote(child.title() + ", from " + recording)
                                    + ", ended at \\S+Z\n"
                                    + SISCI_AND_TCP);
        }
    }

    @Test
    void shouldDistinguishProcessesThatHaveEnded() throws Exception {
        var report =
                """
                jrdma sockets\tprocess 7\ta.B\t2026-11-22T10:00:00Z\tSTATE
                local\tpeer\taccepted\ttransport\treceived\tsent\tsince\twhy not faster
                """;
        var running = Files.writeString(folder.resolve("a"), report.replace("STATE", "running"));
        var ended = Files.writeString(folder.resolve("b"), report.replace("STATE", "ended"));

        assertThat(run("net", running.toString(), ended.toString())).as(errors.toString()).isZero();
        assertThat(output.toString())
                .isEqualTo(
                        """
                        process 7, a.B, from %s, at 2026-11-22T10:00:00Z: no open connections
                        process 7, a.B, from %s, ended at 2026-11-22T10:00:00Z: no open connections
                        """
                                .formatted(running, ended));

        assertThat(run("net", "--json", running.toString(), ended.toString())).isZero();
        assertThat(output.toString())
                .contains("\"ended\":false,\"problem\":null", "\"ended\":true,\"problem\":null");
    }

    @Test
    void shouldReplaceControlCharactersOfAFile() throws Exception {
        var report =
                Files.writeString(
                        folder.resolve("a"),
                        """
                        jrdma sockets\tprocess 7\tESC[2J\t2026-11-22T10:00:00Z\trunning
                        local\tpeer\taccepted\ttransport\treceived\tsent\tsince\twhy not faster
                        1:1\tESC]0;a\u0007:1\tfalse\tt\u009b1m\t0\t0\tESCc\t\u202eb
                        """
                                .replace("ESC", "\u001b"));

        assertThat(run("net", report.toString())).as(errors.toString()).isZero();

        assertThat(output.toString())
                .isEqualTo(
                        """
                        process 7, ?[2J, from %s, at 2026-11-22T10:00:00Z
                          ?]0;a?
                             t?1m: 1 (to 1) [fallback: ?b]; 0 bytes received, 0 sent; since ?c
                        """
                                .formatted(report));
    }

    @Test
    void shouldReportFilesThatCannotBeRead() throws Exception {
        var notAReport = Files.writeString(folder.resolve("passwd"), "root:x:0:0\n");
        var broken = Files.writeString(folder.resolve("broken.jfr"), "FLR\0nothing");
        var missing = folder.resolve("none");

        assertThat(run("net", notAReport.toString(), broken.toString(), missing.toString()))
                .isOne();

        assertThat(errors.toString())
                .contains(
                        notAReport
                                + " is not a report that a process writes with -Djrdma.sockets.report\n")
                .contains("Cannot read " + broken + ": ")
                .contains(missing.toString())
                .hasLineCount(3);
        assertThat(output.toString()).isEmpty();
    }

    @Test
    void shouldConnectOnlyToALocalAgentAndReportOthersInOneLine() throws Exception {
        var foreignAddress = "service:jmx:rmi:///jndi/rmi://127.0.0.1:1/other";
        try (var child =
                new Child(
                        List.of("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED"),
                        FakeJmxAgentProgram.class,
                        foreignAddress + "\n\tname")) {
            assertThat(run(child)).isOne();

            assertThat(output.toString())
                    .contains(
                            ": unknown: query failed: its management address is not local: "
                                    + foreignAddress
                                    + " name\n");
        }
    }

    /** Reads a file that the kernel allows no user to read, not even root. */
    @Test
    void shouldReportMissingPermission() {
        assertThat(run("net", "/proc/sys/vm/drop_caches")).isOne();

        assertThat(errors.toString())
                .isEqualTo("Cannot read /proc/sys/vm/drop_caches: permission denied.\n");
    }

    @Test
    void shouldReportThatAProcessIsNotAJvm() throws Exception {
        var process = new ProcessBuilder("sleep", "600").start();
        try {
            assertThat(run("net", "--pid", Long.toString(process.pid()))).isOne();

            assertThat(errors.toString())
                    .isEqualTo("There is no JVM with process ID %d.\n".formatted(process.pid()));
        } finally {
            process.destroyForcibly();
        }
    }
}
