package org.jrdma.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.interop.devinfo.DevInfo;
import org.jrdma.interop.events.Mckey;
import org.jrdma.interop.events.Ucmatose;
import org.jrdma.interop.events.Udaddy;
import org.jrdma.interop.firstmessage.RdmaClient;
import org.jrdma.interop.firstmessage.RdmaServer;
import org.jrdma.interop.pingpong.RcPingPong;
import org.jrdma.interop.pingpong.SrqPingPong;
import org.jrdma.interop.pingpong.UcPingPong;
import org.jrdma.interop.pingpong.UdPingPong;
import org.jrdma.interop.pingpong.XsrqPingPong;
import org.jrdma.interop.rping.Rping;
import org.jrdma.processes.FreePorts;
import org.jrdma.processes.Program;
import org.jrdma.processes.Programs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the interop programs on the software fabric. Each side runs in a separate process. The
 * tests run on any machine.
 */
class SoftwareFabricTest {

    private static final String FIRST_LINE = "This runs on the software fabric, as requested.\n";

    private static final boolean QUICK = Boolean.getBoolean("jrdma.test.quick");

    /**
     * The process ID, from which addresses are derived, so that two builds on one machine use
     * different addresses.
     */
    private static final long PROCESS = ProcessHandle.current().pid();

    static Stream<Arguments> pingPongs() {
        var all =
                Stream.of(
                        arguments(RcPingPong.class, "-n 200"),
                        arguments(RcPingPong.class, "-e -n 200"),
                        arguments(RcPingPong.class, "-c -s 20000 -r 3 -n 50"),
                        arguments(RcPingPong.class, "-s 1 -m 4096 -n 50"),
                        arguments(UcPingPong.class, "-n 200"),
                        arguments(UcPingPong.class, "-e -c -s 20000 -r 3 -n 50"),
                        arguments(SrqPingPong.class, "-n 400"),
                        arguments(SrqPingPong.class, "-e -c -s 20000 -q 3 -r 3 -n 60"),
                        arguments(UdPingPong.class, "-n 200"),
                        arguments(UdPingPong.class, "-e -c -s 1 -r 3 -n 50"));
        return QUICK
                ? all.filter(arguments -> arguments.get()[1].toString().startsWith("-n"))
                : all;
    }

    @ParameterizedTest
    @Tag("slow")
    @MethodSource("pingPongs")
    void shouldRunPingPong(Class<?> example, String options) throws Exception {
        var port = FreePorts.one();
        try (var server = pingPong(example, port, options)) {
            server.awaitListening(port);
            try (var client = pingPong(example, port, options, "localhost")) {
                for (var side : List.of(client, server)) {
                    assertThat(side.await())
                            .as("client: %s, server: %s", client.output(), server.output())
                            .isZero();
                    assertThat(side.output())
                            .startsWith(FIRST_LINE)
                            .doesNotContain("invalid data")
                            .containsPattern("remote address: LID 0x0000, .* GID ::ffff:127.0.0.")
                            .containsPattern("(?m)^\\d+ iters in .* usec/iter$");
                }
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"-n 200", "-e -s 20000 -n 50", "--num_tests=1 -m 4096", "-c1 -o"})
    void shouldRunPingPongOverExtendedConnections(String options) throws Exception {
        var port = FreePorts.one();
        try (var server = pingPong(XsrqPingPong.class, port, options)) {
            server.awaitListening(port);
            try (var client = pingPong(XsrqPingPong.class, port, options, "localhost")) {
                for (var side : List.of(client, server)) {
                    assertThat(side.await()).as(side.output()).isZero();
                    assertThat(side.output())
                            .startsWith(FIRST_LINE)
                            .containsPattern(
                                    "\n   local: LID 0000, QPN RECV [0-9a-f]{6} SEND [0-9a-f]{6}, PSN [0-9a-f]{6}, SRQN [0-9a-f]{6}, GID ::ffff:127.0.0.")
                            .containsPattern("\n  remote: LID 0000, .* GID ::ffff:127.0.0.")
                            .endsWith("\nsuccess\n");
                }
            }
        }
    }

    private static Program pingPong(Class<?> example, int port, String options, String... host)
            throws IOException {
        var arguments = new ArrayList<>(List.of("-f", "software", "-p", String.valueOf(port)));
        if (!options.isEmpty()) {
            arguments.addAll(List.of(options.split(" ")));
        }
        arguments.addAll(List.of(host));
        return Programs.example(example, arguments.toArray(String[]::new));
    }

    /** Each process has a device with its own address. */
    @Test
    void shouldPingOverAConnectionByAddress() throws Exception {
        var address = ownAddress();
        var options = List.of("-f", "software", "-a", address, "-v", "-C", "3", "-S", "100");
        try (var server = rping(options, "-s")) {
            server.awaitOutput("waiting at");
            try (var client = rping(options, "-c", "-V")) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(client.output())
                        .startsWith(FIRST_LINE)
                        .contains("\nping data: rdma-ping-2: CDEFGHIJ");
            }
            assertThat(server.await()).as(server.output()).isZero();
            assertThat(server.output())
                    .startsWith(FIRST_LINE)
                    .contains("\nserver ping data: rdma-ping-2: CDEFGHIJ");
        }
    }

    private static Program rping(List<String> options, String... more) throws IOException {
        var arguments = new ArrayList<>(options);
        arguments.addAll(List.of(more));
        return Programs.example(Rping.class, arguments.toArray(String[]::new));
    }

    @Tag("slow")
    @Test
    void shouldServeThePingsOfManyClients() throws Exception {
        var address = ownAddress();
        var options = List.of("-f", "software", "-a", address);
        try (var server = rping(options, "-sPv")) {
            server.awaitOutput("waiting at port 7174 of " + address);
            try (var first = rping(options, "-c", "-vVC2");
                    var second = rping(options, "-c", "-q", "-C", "2", "-V", "-d")) {
                for (var client : List.of(first, second)) {
                    assertThat(client.await()).as(client.output()).isZero();
                }
                assertThat(first.output()).contains("\nping data: rdma-ping-1: BCDEFGHI");
                assertThat(second.output()).contains(" DEBUG ").doesNotContain("ping data");
            }
            try (var third = rping(options, "-c", "-C", "1", "-I", ownAddress(1))) {
                assertThat(third.await()).as(third.output()).isZero();
            }
            server.awaitOutput("client " + ownAddress(1) + ":");
            assertThat(server.isRunning()).isTrue();
        }
    }

    /** Returns one of four addresses. Devices without a chosen address use the lowest one. */
    private static String ownAddress(int which) {
        return "127.0.0." + (100 + PROCESS % 38 * 4 + which);
    }

    private static String ownAddress() {
        return ownAddress(0);
    }

    private static String ownGroup(int which) {
        return "239.%d.%d.%d".formatted(77 + which, PROCESS >> 8 & 0xff, PROCESS & 0xff);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"", "-c 3 -m", "-P ib -C 3 -S 20000", "-C 0 -a 14 -t 8 -p 7500"})
    void shouldConnectStepByStep(String options) throws Exception {
        var address = ownAddress();
        try (var server = example(Ucmatose.class, "-f software -b " + address, options)) {
            server.awaitOutput("waiting at port " + (options.contains("-p") ? 7500 : 7471));
            try (var client = example(Ucmatose.class, "-f software -s " + address, options)) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(server.await()).as(server.output()).isZero();
                for (var side : List.of(client, server)) {
                    assertThat(side.output())
                            .startsWith(FIRST_LINE)
                            .endsWith("disconnected\ntest complete\n");
                    assertThat(side.output().contains("data transfers complete"))
                            .isEqualTo(!options.contains("-C 0"));
                }
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"", "-c 3 -S 1000", "-P ipoib -C 1", "-p 0x0002 -C 0 -t 8"})
    void shouldQueryTheDestinationOfDatagrams(String options) throws Exception {
        var address = ownAddress();
        try (var server = example(Udaddy.class, "-f software -b " + address, options)) {
            server.awaitOutput("waiting at port 7174 of " + address);
            try (var client = example(Udaddy.class, "-f software -s " + address, options)) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(server.await()).as(server.output()).isZero();
                for (var side : List.of(client, server)) {
                    assertThat(side.output()).startsWith(FIRST_LINE).endsWith("test complete\n");
                    assertThat(side.output().contains("data transfers complete"))
                            .isEqualTo(!options.contains("-C 0"));
                }
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"-C 3", "-c 2 -S 1000 -o", "-P ipoib -C 1"})
    void shouldReachAllMembersOfAGroup(String options) throws Exception {
        var group = ownGroup(0);
        var sending = options + " -f software -m " + group;
        var receiving = sending.replace(" -o", "");
        try (var first = example(Mckey.class, receiving, "-b " + ownAddress(1));
                var second = example(Mckey.class, receiving, "-b " + ownAddress(2))) {
            for (var receiver : List.of(first, second)) {
                receiver.awaitOutput("receiving data transfers");
                assertThat(receiver.output()).contains("\njoined ::ffff:" + group + ", LID 0x0\n");
            }
            try (var sender = example(Mckey.class, sending, "-s -b " + ownAddress(3))) {
                for (var member : List.of(sender, first, second)) {
                    assertThat(member.await()).as(member.output()).isZero();
                    assertThat(member.output())
                            .startsWith(FIRST_LINE)
                            .endsWith("data transfers complete\ntest complete\n");
                }
            }
        }
    }

    @Test
    void shouldReportHowToSelectADeviceForAGroup() throws Exception {
        try (var program = example(Mckey.class, "-f software -s -m " + ownGroup(2))) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output()).endsWith(" Select a device with -b.\n");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-s 127.0.0.1, 1, 'A connection failed: the peer rejected the request: no program listens at that port'",
        "-m 3, 2, Unmatched argument at index 5: '3'",
        "-c, 2, Missing required parameter for option '-c'",
        "-c 0, 2, '-c takes a number from 1 to 10000, not \"0\"'",
        "-P udp, 2, 'This program does not support the port space udp.'",
        "-s nowhere.invalid, 1, 'There is no host named nowhere.invalid.'",
    })
    void shouldReportWhyTheConnectionFailed(String options, int code, String message)
            throws Exception {
        try (var program = example(Ucmatose.class, "-f software -p 7501", options)) {
            assertThat(program.await()).isEqualTo(code);
            assertThat(program.output()).contains(message).doesNotContain("\tat ");
        }
    }

    private static Program example(Class<?> example, String... options) throws IOException {
        return Programs.example(example, String.join(" ", options).trim().split(" "));
    }

    /** A listener at the wildcard address prints the addresses of all devices. */
    @Tag("slow")
    @Test
    void shouldReportWhereItListens() throws Exception {
        try (var server = example(RdmaServer.class, "-f software")) {
            server.awaitOutput("waiting at");
            assertThat(server.output())
                    .containsPattern("\nwaiting at port 7471 of 127\\.0\\.0\\.\\d+ \\(soft0\\)\n");
            var address = server.output().replaceAll("(?s).* of ([0-9.]+) .*", "$1");
            try (var client = example(RdmaClient.class, "-f software -s " + address)) {
                assertThat(client.await()).as(client.output()).isZero();
            }
        }
    }

    @Test
    void shouldExchangeAMessageOverAConnectionByAddress() throws Exception {
        var options = new String[] {"-f", "software", "-s", ownAddress()};
        try (var server = Programs.example(RdmaServer.class, options)) {
            server.awaitOutput("waiting at");
            try (var client = Programs.example(RdmaClient.class, options)) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(client.output())
                        .startsWith(FIRST_LINE)
                        .contains("received 16 bytes: \"Dankon\"");
            }
            assertThat(server.await()).as(server.output()).isZero();
            assertThat(server.output()).contains("received 16 bytes: \"Saluton, mondo\"");
        }
    }

    @Test
    void shouldReportThatThereIsNoServer() throws Exception {
        try (var client =
                Programs.example(
                        RdmaClient.class, "-f", "software", "-s", "127.0.0.1", "-p", "none")) {
            assertThat(client.await()).isEqualTo(1);
            assertThat(client.output())
                    .contains("rdma_getaddrinfo failed for service none of 127.0.0.1")
                    .doesNotContain("\tat ");
        }
    }

    @Tag("slow")
    @Test
    void shouldReportThatTheServerIsAnotherProgram() throws Exception {
        var address = ownAddress();
        try (var server = example(RdmaServer.class, "-f software -s " + address)) {
            server.awaitOutput("waiting at");
            try (var client =
                    Programs.example(
                            "org.jrdma.examples.writenotify.WriteNotify",
                            "-f",
                            "software",
                            "-p",
                            "7471",
                            address)) {
                assertThat(client.await()).isEqualTo(1);
                assertThat(client.output())
                        .contains(
                                "The server at that address is not write-notify: it sent no memory.")
                        .doesNotContain("\tat ");
            }
        }
    }

    @Test
    void shouldReportTheAttributesOfADevice() throws Exception {
        try (var program = Programs.example(DevInfo.class, "-f", "software", "-d", "soft0")) {
            assertThat(program.await()).isZero();
            assertThat(program.output())
                    .startsWith(FIRST_LINE + "hca_id:\tsoft0\n\ttransport:\t\t\tInfiniBand (0)\n")
                    .contains("\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n")
                    .doesNotContain("max_qp", "GID")
                    .endsWith("\tEthernet\n\n");
        }
    }

    @Test
    void shouldPrintAllAttributesOfADevice() throws Exception {
        try (var program = Programs.example(DevInfo.class, "-vf", "software", "--ib-port=1")) {
            assertThat(program.await()).isZero();
            assertThat(program.output())
                    .contains("hca_id:\tsoft0\n", "\n\tmax_qp:\t\t\t\t", "\tRC_RNR_NAK_GEN\n")
                    .contains(
                            "\n\tatomic_cap:\t\t\tATOMIC_GLOB (2)\n",
                            "\n\t\t\tphys_state:\t\tLINK_UP (5)\n")
                    .containsPattern(
                            "\n\t\t\tGID\\[  0\\]:\t\t::ffff:127\\.0\\.0\\.\\d+, RoCE v2\n\n$");
        }
    }

    @Test
    void shouldListTheDevices() throws Exception {
        try (var program = Programs.example(DevInfo.class, "-l", "-f", "software")) {
            assertThat(program.await()).isZero();
            assertThat(program.output()).isEqualTo(FIRST_LINE + "1 HCA found:\n\tsoft0\n\n");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-i 2, 1, soft0 has no port 2",
        "-i 0, 2, 'port numbers start at 1, so there is no port 0'",
        "-i x, 2, '\"x\" is not a whole number'",
        "-d, 2, Missing required parameter for option '--ib-dev'",
        "soft0, 2, Unmatched argument at index 2: 'soft0'",
    })
    void shouldRejectPortsThatDoNotExistAndInvalidOptions(String options, int code, String message)
            throws Exception {
        var arguments = new ArrayList<>(List.of("-f", "software"));
        arguments.addAll(List.of(options.split(" ")));
        try (var program = Programs.example(DevInfo.class, arguments.toArray(String[]::new))) {
            assertThat(program.await()).isEqualTo(code);
            assertThat(program.output()).contains(message).doesNotContain("\tat ", "hca_id");
        }
    }

    /** Returns programs that open a device. The quick form has one of each kind. */
    static Stream<Class<?>> programs() {
        var all =
                Stream.<Class<?>>of(
                        RcPingPong.class,
                        DevInfo.class,
                        UcPingPong.class,
                        UdPingPong.class,
                        SrqPingPong.class,
                        XsrqPingPong.class);
        return all.limit(QUICK ? 2 : 6);
    }

    @ParameterizedTest
    @MethodSource("programs")
    void shouldRejectAnUnknownFabric(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-f", "hardware")) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output())
                    .contains("\"hardware\" is neither system nor software", " See --help.")
                    .hasLineCount(1);
        }
    }
}
