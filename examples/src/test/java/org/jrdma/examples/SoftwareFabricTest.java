package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jrdma.examples.atomics.Atomics;
import org.jrdma.examples.simplerdmawrite.SimpleRdmaWrite;
import org.jrdma.examples.udmulticast.UdMulticast;
import org.jrdma.examples.writenotify.WriteNotify;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.processes.Program;
import org.jrdma.processes.Programs;
import org.jrdma.verbs.Verbs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the examples on the software fabric. Each side runs in a separate process. The tests run on
 * any machine.
 */
class SoftwareFabricTest {

    private static final String FIRST_LINE = "This runs on the software fabric, as requested.\n";
    private static final Pattern WAITING =
            Pattern.compile("waiting for the other side on port (\\d+)");

    /**
     * The process ID, from which multicast groups are derived, so that two builds on one machine
     * use different groups.
     */
    private static final long PROCESS = ProcessHandle.current().pid();

    @Test
    void shouldWriteATextIntoTheOtherProcess() throws Exception {
        try (var writer = Programs.example(SimpleRdmaWrite.class, "-f", "software", "-p", "0")) {
            writer.awaitOutput("waiting for the other side");
            var port = WAITING.matcher(writer.output()).results().findFirst().orElseThrow();
            try (var watcher =
                    Programs.example(
                            SimpleRdmaWrite.class,
                            "-f",
                            "software",
                            "-p",
                            port.group(1),
                            "localhost")) {
                assertThat(watcher.await()).as(watcher.output()).isZero();
                assertThat(writer.await()).as(writer.output()).isZero();
                assertThat(watcher.output())
                        .startsWith(FIRST_LINE)
                        .contains("found \"Saluton, mondo\"");
                assertThat(writer.output())
                        .startsWith(FIRST_LINE)
                        .contains("wrote \"Saluton, mondo\"");
            }
        }
    }

    private static String ownGroup(int which) {
        return "239.%d.%d.%d".formatted(77 + which, PROCESS >> 8 & 0xff, PROCESS & 0xff);
    }

    @Tag("slow")
    @Test
    void shouldNotifyAServerOfDataWrittenByManyClients() throws Exception {
        try (var server = writeNotify("-n", "3")) {
            server.awaitOutput("waiting at");
            var address = server.output().replaceAll("(?s).*waiting at ([0-9.]+).*", "$1");
            try (var first = writeNotify("-n", "5", address);
                    var second = writeNotify("-n", "5", address);
                    var third = writeNotify("-n", "5", "-m", address)) {
                for (var client : List.of(first, second, third)) {
                    assertThat(client.await()).as(client.output()).isZero();
                }
                assertThat(first.output()).contains("the server has seen 10 texts");
                assertThat(third.output()).contains("the server has seen 5 texts");
            }
            assertThat(server.await()).as(server.output()).isZero();
            assertThat(server.output().lines().filter(line -> line.contains("\"Saluton 5\"")))
                    .hasSize(2)
                    .allMatch(line -> line.endsWith("notified by immediate data"));
            assertThat(
                            server.output()
                                    .lines()
                                    .filter(line -> line.contains("\"Saluton, mondo 5\"")))
                    .hasSize(3)
                    .allMatch(line -> line.endsWith("notified by a message"));
            assertThat(server.output())
                    .contains("client 1 has left", "client 2 has left", "client 3 has left");
        }
    }

    private static Program writeNotify(String... more) throws IOException {
        var arguments = new ArrayList<>(List.of("-f", "software"));
        arguments.addAll(List.of(more));
        return Programs.example(WriteNotify.class, arguments.toArray(String[]::new));
    }

    @Tag("slow")
    @Test
    void shouldLoseNoIncrementMadeAtomicallyOrUnderALock() throws Exception {
        try (var owner =
                Programs.example(Atomics.class, "-f", "software", "-p", "0", "-n", "200")) {
            owner.awaitOutput("waiting for the other side");
            var port = WAITING.matcher(owner.output()).results().findFirst().orElseThrow();
            try (var client =
                    Programs.example(
                            Atomics.class,
                            "-f",
                            "software",
                            "-p",
                            port.group(1),
                            "-n",
                            "300",
                            "localhost")) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(owner.await()).as(owner.output()).isZero();
                assertThat(owner.output())
                        .startsWith(FIRST_LINE)
                        .contains("together, both sides counted to 500\n")
                        .containsPattern("\nread, add, write: +\\d+\n")
                        .containsPattern("\nwith a lock: +500\n")
                        .containsPattern("\nfetch-and-add: +500\n");
            }
        }
    }

    @Test
    @Tag("slow")
    void shouldReachAllMembersOfAGroup() throws Exception {
        var options = List.of("-f", "software", "-m", ownGroup(1));
        try (var first = multicast(options, "-n", "2");
                var second = multicast(options)) {
            first.awaitOutput("waiting in the group");
            second.awaitOutput("waiting in the group");
            try (var sender = multicast(options, "Saluton, mondo")) {
                assertThat(sender.await()).as(sender.output()).isZero();
            }
            assertThat(second.await()).as(second.output()).isZero();
            first.awaitOutput("mondo");
            try (var sender = multicast(options, "once more")) {
                assertThat(sender.await()).as(sender.output()).isZero();
            }
            assertThat(first.await()).as(first.output()).isZero();
            assertThat(second.output())
                    .containsPattern(
                            "\nreceived \"Saluton, mondo\" from ::ffff:127\\.0\\.0\\.\\d+\n")
                    .doesNotContain("once more");
            assertThat(first.output()).contains("Saluton, mondo", "\nreceived \"once more\" from ");
        }
    }

    private static Program multicast(List<String> options, String... more) throws IOException {
        var arguments = new ArrayList<>(options);
        arguments.addAll(List.of(more));
        return Programs.example(UdMulticast.class, arguments.toArray(String[]::new));
    }

    /**
     * Uses a device if the machine has one. Otherwise, uses the software fabric and prints a line.
     */
    @Test
    void shouldSelectTheSoftwareFabricOnlyWithoutADevice() throws Exception {
        try (var program = Programs.example(SimpleRdmaWrite.class, "-p", "0")) {
            program.awaitOutput("waiting for the other side");

            if (hasDevice()) {
                assertThat(program.output()).startsWith("waiting");
            } else {
                assertThat(program.output())
                        .startsWith(
                                "This runs on the software fabric, because this machine has no RDMA device.\nwaiting");
            }
        }
    }

    private static boolean hasDevice() throws IOException {
        try {
            return !Verbs.system().devices().isEmpty();
        } catch (LibraryNotFoundException e) {
            return false;
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, UdMulticast.class, Atomics.class})
    void shouldRejectAnUnknownFabric(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-f", "hardware")) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output())
                    .contains("\"hardware\" is neither system nor software", " See --help.")
                    .hasLineCount(1);
        }
    }
}
