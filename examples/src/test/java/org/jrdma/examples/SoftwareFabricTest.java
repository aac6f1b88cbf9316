package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jrdma.examples.atomics.Atomics;
import org.jrdma.examples.devinfo.DevInfo;
import org.jrdma.examples.events.Mckey;
import org.jrdma.examples.events.Ucmatose;
import org.jrdma.examples.events.Udaddy;
import org.jrdma.examples.firstmessage.RdmaClient;
import org.jrdma.examples.firstmessage.RdmaServer;
import org.jrdma.examples.pingpong.RcPingPong;
import org.jrdma.examples.pingpong.SrqPingPong;
import org.jrdma.examples.pingpong.UcPingPong;
import org.jrdma.examples.pingpong.UdPingPong;
import org.jrdma.examples.pingpong.XsrqPingPong;
import org.jrdma.examples.rping.Rping;
import org.jrdma.examples.simplerdmawrite.SimpleRdmaWrite;
import org.jrdma.examples.udmulticast.UdMulticast;
import org.jrdma.examples.writenotify.WriteNotify;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.processes.Program;
import org.jrdma.verbs.Verbs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples on the software fabric, each side in a process of its own: on any machine. */
class SoftwareFabricTest {

    private static final String CHOSEN = "This runs on the software fabric, as it was told to.\n";
    private static final Pattern WAITING =
            Pattern.compile("waiting for the other side on port (\\d+)");

    /** Two builds on one machine differ in it. */
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
                        .startsWith(CHOSEN)
                        .contains("found \"Saluton, mondo\"");
                assertThat(writer.output()).startsWith(CHOSEN).contains("wrote \"Saluton, mondo\"");
            }
        }
    }

    static Stream<Arguments> games() {
        return Stream.of(
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
    }

    @ParameterizedTest
    @MethodSource("games")
    void shouldPlayPingPong(Class<?> example, String options) throws Exception {
        var port = freePort();
        try (var server = pingPong(example, port, options)) {
            server.awaitListening(port);
            try (var client = pingPong(example, port, options, "localhost")) {
                for (var side : List.of(client, server)) {
                    assertThat(side.await())
                            .as("client: %s, server: %s", client.output(), server.output())
                            .isZero();
                    assertThat(side.output())
                            .startsWith(CHOSEN)
                            .doesNotContain("invalid data")
                            .containsPattern("remote address: LID 0x0000, .* GID ::ffff:127.0.0.")
                            .containsPattern("(?m)^\\d+ iters in .* usec/iter$");
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-n 200", "-e -s 20000 -n 50", "--num_tests=1 -m 4096", "-c1 -o"})
    void shouldPlayPingPongOverExtendedConnections(String options) throws Exception {
        var port = freePort();
        try (var server = pingPong(XsrqPingPong.class, port, options)) {
            server.awaitListening(port);
            try (var client = pingPong(XsrqPingPong.class, port, options, "localhost")) {
                for (var side : List.of(client, server)) {
                    assertThat(side.await()).as(side.output()).isZero();
                    assertThat(side.output())
                            .startsWith(CHOSEN)
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

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /** Each process has a device, at an address of its own, and finds the other by that. */
    @Test
    void shouldPingOverAConnectionByAddress() throws Exception {
        var address = addressOfOwn();
        var options = List.of("-f", "software", "-a", address, "-v", "-C", "3", "-S", "100");
        try (var server = rping(options, "-s")) {
            server.awaitOutput("waiting at");
            try (var client = rping(options, "-c", "-V")) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(client.output())
                        .startsWith(CHOSEN)
                        .contains("\nping data: rdma-ping-2: CDEFGHIJ");
            }
            assertThat(server.await()).as(server.output()).isZero();
            assertThat(server.output())
                    .startsWith(CHOSEN)
                    .contains("\nserver ping data: rdma-ping-2: CDEFGHIJ");
        }
    }

    private static Program rping(List<String> options, String... more) throws IOException {
        var arguments = new ArrayList<>(options);
        arguments.addAll(List.of(more));
        return Programs.example(Rping.class, arguments.toArray(String[]::new));
    }

    @Test
    void shouldAnswerThePingsOfManyClients() throws Exception {
        var address = addressOfOwn();
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
            try (var third = rping(options, "-c", "-C", "1", "-I", addressOfOwn(1))) {
                assertThat(third.await()).as(third.output()).isZero();
            }
            server.awaitOutput("client /" + addressOfOwn(1) + ":");
            assertThat(server.isRunning()).isTrue();
        }
    }

    /** One of four; devices that are told none take the lowest. */
    private static String addressOfOwn(int which) {
        return "127.0.0." + (100 + PROCESS % 38 * 4 + which);
    }

    private static String addressOfOwn() {
        return addressOfOwn(0);
    }

    private static String groupOfOwn(int which) {
        return "239.%d.%d.%d".formatted(77 + which, PROCESS >> 8 & 0xff, PROCESS & 0xff);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-c 3 -m", "-P ib -C 3 -S 20000", "-C 0 -a 14 -t 8 -p 7500"})
    void shouldTakeEveryStepToAConnection(String options) throws Exception {
        var address = addressOfOwn();
        try (var server = example(Ucmatose.class, "-f software -b " + address, options)) {
            server.awaitOutput("waiting at port " + (options.contains("-p") ? 7500 : 7471));
            try (var client = example(Ucmatose.class, "-f software -s " + address, options)) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(server.await()).as(server.output()).isZero();
                for (var side : List.of(client, server)) {
                    assertThat(side.output())
                            .startsWith(CHOSEN)
                            .endsWith("disconnected\ntest complete\n");
                    assertThat(side.output().contains("data transfers complete"))
                            .isEqualTo(!options.contains("-C 0"));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-c 3 -S 1000", "-P ipoib -C 1", "-p 0x0002 -C 0 -t 8"})
    void shouldAskWhereDatagramsGo(String options) throws Exception {
        var address = addressOfOwn();
        try (var server = example(Udaddy.class, "-f software -b " + address, options)) {
            server.awaitOutput("waiting at port 7174 of " + address);
            try (var client = example(Udaddy.class, "-f software -s " + address, options)) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(server.await()).as(server.output()).isZero();
                for (var side : List.of(client, server)) {
                    assertThat(side.output()).startsWith(CHOSEN).endsWith("test complete\n");
                    assertThat(side.output().contains("data transfers complete"))
                            .isEqualTo(!options.contains("-C 0"));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"-C 3", "-c 2 -S 1000 -o", "-P ipoib -C 1"})
    void shouldReachAllWhoHaveJoined(String options) throws Exception {
        var group = groupOfOwn(0);
        var toAll = options + " -f software -m " + group;
        var receiving = toAll.replace(" -o", "");
        try (var first = example(Mckey.class, receiving, "-b " + addressOfOwn(1));
                var second = example(Mckey.class, receiving, "-b " + addressOfOwn(2))) {
            for (var receiver : List.of(first, second)) {
                receiver.awaitOutput("receiving data transfers");
                assertThat(receiver.output()).contains("\njoined ::ffff:" + group + ", LID 0x0\n");
            }
            try (var sender = example(Mckey.class, toAll, "-s -b " + addressOfOwn(3))) {
                for (var member : List.of(sender, first, second)) {
                    assertThat(member.await()).as(member.output()).isZero();
                    assertThat(member.output())
                            .startsWith(CHOSEN)
                            .endsWith("data transfers complete\ntest complete\n");
                }
            }
        }
    }

    @Test
    void shouldSayHowToNameADeviceForAGroup() throws Exception {
        try (var program = example(Mckey.class, "-f software -s -m " + groupOfOwn(2))) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output()).endsWith(" -b names one.\n");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-s 127.0.0.1, 'A connection failed: the peer refused: nobody listens at that port'",
        "-m 3, '3 is too much.'",
        "-c, '-c misses its value.'",
        "-c 0, '-c: 0 is no number from 1 to 10000.'",
        "-P udp, 'There is no port space udp for it.'",
        "-s nowhere.invalid, 'There is no host named nowhere.invalid.'",
    })
    void shouldSayWhyThereIsNoConnection(String options, String message) throws Exception {
        try (var program = example(Ucmatose.class, "-f software -p 7501", options)) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output()).contains(message).doesNotContain("\tat ");
        }
    }

    private static Program example(Class<?> example, String... options) throws IOException {
        return Programs.example(example, String.join(" ", options).trim().split(" "));
    }

    /** A listener at all devices says where those are. */
    @Test
    void shouldSayWhereItListens() throws Exception {
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
        var options = new String[] {"-f", "software", "-s", addressOfOwn()};
        try (var server = Programs.example(RdmaServer.class, options)) {
            server.awaitOutput("waiting at");
            try (var client = Programs.example(RdmaClient.class, options)) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(client.output())
                        .startsWith(CHOSEN)
                        .contains("received 16 bytes: \"Dankon\"");
            }
            assertThat(server.await()).as(server.output()).isZero();
            assertThat(server.output()).contains("received 16 bytes: \"Saluton, mondo\"");
        }
    }

    @Test
    void shouldSayThatNobodyServes() throws Exception {
        try (var client =
                Programs.example(
                        RdmaClient.class, "-f", "software", "-s", "127.0.0.1", "-p", "none")) {
            assertThat(client.await()).isEqualTo(1);
            assertThat(client.output())
                    .contains("rdma_getaddrinfo failed for service none of 127.0.0.1")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void shouldSayThatAnotherProgramServes() throws Exception {
        var address = addressOfOwn();
        try (var server = example(RdmaServer.class, "-f software -s " + address)) {
            server.awaitOutput("waiting at");
            try (var client =
                    writeNotify(List.of("-f", "software", "-a", address), "-c", "-p", "7471")) {
                assertThat(client.await()).isEqualTo(1);
                assertThat(client.output())
                        .contains("What listens there is no write-notify: it names no memory.")
                        .doesNotContain("\tat ");
            }
        }
    }

    @Test
    void shouldTellAServerWhenWhatManyClientsWriteIsThere() throws Exception {
        var address = addressOfOwn();
        var options = List.of("-f", "software", "-a", address);
        try (var server = writeNotify(options, "-s", "-n", "3")) {
            server.awaitOutput("waiting at");
            try (var first = writeNotify(options, "-c", "-n", "5");
                    var second = writeNotify(options, "-c", "-n", "5");
                    var third = writeNotify(options, "-c", "-n", "5", "-m")) {
                for (var client : List.of(first, second, third)) {
                    assertThat(client.await()).as(client.output()).isZero();
                }
                assertThat(first.output()).contains("the server has seen 10 texts");
                assertThat(third.output()).contains("the server has seen 5 texts");
            }
            assertThat(server.await()).as(server.output()).isZero();
            assertThat(server.output().lines().filter(line -> line.contains("\"Saluton 5\"")))
                    .hasSize(2)
                    .allMatch(line -> line.endsWith("told by immediate data"));
            assertThat(
                            server.output()
                                    .lines()
                                    .filter(line -> line.contains("\"Saluton, mondo 5\"")))
                    .hasSize(3)
                    .allMatch(line -> line.endsWith("told by a message"));
            assertThat(server.output())
                    .contains("client 1 has left", "client 2 has left", "client 3 has left");
        }
    }

    private static Program writeNotify(List<String> options, String... more) throws IOException {
        var arguments = new ArrayList<>(options);
        arguments.addAll(List.of(more));
        return Programs.example(WriteNotify.class, arguments.toArray(String[]::new));
    }

    @Test
    void shouldLoseNothingThatIsCountedAtomicallyOrUnderALock() throws Exception {
        try (var owner =
                Programs.example(Atomics.class, "-f", "software", "-p", "0", "-n", "200")) {
            owner.awaitOutput("waiting for the other side");
            var port = WAITING.matcher(owner.output()).results().findFirst().orElseThrow();
            try (var other =
                    Programs.example(
                            Atomics.class,
                            "-f",
                            "software",
                            "-p",
                            port.group(1),
                            "-n",
                            "300",
                            "localhost")) {
                assertThat(other.await()).as(other.output()).isZero();
                assertThat(owner.await()).as(owner.output()).isZero();
                assertThat(owner.output())
                        .startsWith(CHOSEN)
                        .contains("together, both sides counted to 500\n")
                        .containsPattern("\nread, add, write: +\\d+\n")
                        .containsPattern("\nthe same with a lock: +500\n")
                        .containsPattern("\nfetch-and-add: +500\n");
            }
        }
    }

    @Test
    void shouldReachAllInAGroup() throws Exception {
        var options = List.of("-f", "software", "-m", groupOfOwn(1));
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

    @Test
    void shouldTellWhatADeviceIs() throws Exception {
        try (var program = Programs.example(DevInfo.class, "-f", "software", "-d", "soft0")) {
            assertThat(program.await()).isZero();
            assertThat(program.output())
                    .startsWith(CHOSEN + "hca_id:\tsoft0\n\ttransport:\t\t\tInfiniBand (0)\n")
                    .contains("\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n")
                    .doesNotContain("max_qp", "GID")
                    .endsWith("\tEthernet\n\n");
        }
    }

    @Test
    void shouldTellAllThatADeviceTellsOfItself() throws Exception {
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
            assertThat(program.output()).isEqualTo(CHOSEN + "1 HCA found:\n\tsoft0\n\n");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-i 2, soft0 has no port 2",
        "-i 0, 'ports count from 1, so there is no \"0\"'",
        "-i x, 'ports count from 1, so there is no \"x\"'",
        "-d, -d needs a value",
        "soft0, '\"soft0\" is not understood'",
    })
    void shouldRefuseToTellOfWhatThereIsNot(String options, String message) throws Exception {
        var arguments = new ArrayList<>(List.of("-f", "software"));
        arguments.addAll(List.of(options.split(" ")));
        try (var program = Programs.example(DevInfo.class, arguments.toArray(String[]::new))) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output()).contains(message).doesNotContain("\tat ", "hca_id");
        }
    }

    /** Neither silently: a device is used where there is one, and software is named. */
    @Test
    void shouldChooseTheSoftwareFabricWhereThereIsNoDeviceAndOnlyThere() throws Exception {
        try (var program = Programs.example(SimpleRdmaWrite.class, "-p", "0")) {
            program.awaitOutput("waiting for the other side");

            if (hasDevice()) {
                assertThat(program.output()).startsWith("waiting");
            } else {
                assertThat(program.output())
                        .startsWith(
                                "This runs on the software fabric, as this machine has no RDMA device.\nwaiting");
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
    @ValueSource(
            classes = {
                SimpleRdmaWrite.class,
                RcPingPong.class,
                UcPingPong.class,
                UdPingPong.class,
                SrqPingPong.class,
                XsrqPingPong.class,
                UdMulticast.class,
                Atomics.class,
                DevInfo.class
            })
    void shouldRefuseAFabricThatThereIsNot(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-f", "hardware")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output())
                    .isEqualTo("The fabric can be system or software, not \"hardware\".\n");
        }
    }
}
