package org.jrdma.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.processes.Program;
import org.jrdma.processes.Programs;
import org.jrdma.verbs.Verbs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the interop programs on the device rxe0 of a guest, with each other and with the C
 * programs. The script system-tests/guest/examples-test runs these tests.
 */
@Tag("real-kernel")
class RealKernelTest {

    private static final int PORT = 18515;
    private static final String SERVER = "10.77.0.1";
    private static final List<String> DEVICE = List.of("-d", "rxe0", "-g", "1");

    /** The implementation of a ping-pong program. */
    enum PingPong {
        C,
        JAVA;

        Program start(String options, String... host) throws IOException {
            return startOver("rc", options, host);
        }

        /** Runs a ping-pong program: rc, uc, srq or ud. */
        Program startOver(String transport, String options, String... host) throws IOException {
            var arguments = new ArrayList<>(DEVICE);
            if (!options.isBlank()) {
                arguments.addAll(List.of(options.split(" ")));
            }
            arguments.addAll(List.of(host));
            return switch (this) {
                case JAVA -> example(transport + "-pingpong", arguments);
                case C -> {
                    arguments.addFirst("ibv_" + transport + "_pingpong");
                    yield Program.start(arguments);
                }
            };
        }
    }

    private static Program example(String name, List<String> arguments) throws IOException {
        var command = new ArrayList<>(List.of("example", name));
        command.addAll(arguments);
        return Programs.launch(command.toArray(String[]::new));
    }

    @ParameterizedTest(name = "{0}: {1} {2} serves, {3} {4} connects")
    @CsvSource({
        "rc, C, '', JAVA, ''",
        "rc, C, -e, JAVA, -e",
        "rc, JAVA, '', C, ''",
        "rc, JAVA, -e, C, -e",
        "rc, JAVA, '', JAVA, ''",
        "rc, JAVA, -e, JAVA, -e",
        "rc, C, -c -s 20000 -m 512, JAVA, -c -s 20000 -m 512",
        "rc, JAVA, -c -s 20000 -r 3, C, -c -s 20000 -r 1",
        "uc, C, '', JAVA, ''",
        "uc, C, -e, JAVA, -e",
        "uc, JAVA, '', C, ''",
        "uc, JAVA, -e, JAVA, -e",
        "uc, C, -c -s 20000 -m 512, JAVA, -c -s 20000 -m 512",
        "uc, JAVA, -c -s 20000 -r 3, C, -c -s 20000 -r 2",
        "srq, C, '', JAVA, ''",
        "srq, C, -e, JAVA, -e",
        "srq, JAVA, '', C, ''",
        "srq, JAVA, -e, C, -e",
        "srq, JAVA, '', JAVA, ''",
        "srq, C, -c -s 20000 -q 3 -r 3, JAVA, -c -s 20000 -q 3 -r 9",
        "srq, JAVA, -c -s 20000 -q 255 -r 255, C, -c -s 20000 -q 255 -r 256",
        "ud, C, '', JAVA, ''",
        "ud, C, -e, JAVA, -e",
        "ud, JAVA, '', C, ''",
        "ud, JAVA, -e, JAVA, -e",
        "ud, C, -c -s 1 -r 10, JAVA, -c -s 1 -r 10",
        "ud, JAVA, -c -s 700 -r 3, C, -c -s 700 -r 2",
    })
    void shouldRunPingPong(
            String transport,
            PingPong server,
            String serverOptions,
            PingPong client,
            String clientOptions)
            throws Exception {
        try (var serving = server.startOver(transport, serverOptions)) {
            serving.awaitListening(PORT);
            try (var connecting = client.startOver(transport, clientOptions, SERVER)) {
                assertSuccess(connecting);
                assertSuccess(serving);
            }
        }
    }

    @ParameterizedTest(name = "{0} serves, {1} connects to {2}")
    @CsvSource({
        "C, JAVA, 10.77.0.1",
        "JAVA, C, 10.77.0.1",
        "JAVA, JAVA, 10.77.0.1",
        "C, JAVA, 10.77.1.1",
        "JAVA, C, 10.77.1.1",
    })
    void shouldPingOverAConnectionByAddress(PingPong server, PingPong client, String address)
            throws Exception {
        try (var serving = rping(server, "-s", "-v", "-a", address, "-C", "3", "-S", "100")) {
            serving.awaitOutput(server == PingPong.C ? "rdma_listen" : "waiting at");
            try (var connecting =
                    rping(client, "-c", "-v", "-V", "-a", address, "-C", "3", "-S", "100")) {
                assertThat(connecting.await()).as(connecting.output()).isZero();
                assertThat(connecting.output()).contains("ping data: rdma-ping-2: CDEFGHIJ");
                serving.awaitOutput("server ping data: rdma-ping-2: CDEFGHIJ");
                if (server == PingPong.JAVA) { // The exit code of the C program is random.
                    assertThat(serving.await()).as(serving.output()).isZero();
                }
            }
        }
    }

    /** Repeats the client, because the C server does not print when it starts to listen. */
    @ParameterizedTest(name = "{0} serves, {1} connects to {2}")
    @CsvSource({
        "C, JAVA, 10.77.0.1",
        "JAVA, C, 10.77.0.1",
        "JAVA, JAVA, 10.77.0.1",
        "C, JAVA, 10.77.1.1",
        "JAVA, C, 10.77.1.1",
    })
    void shouldExchangeAMessageOverAConnectionByAddress(
            PingPong server, PingPong client, String address) throws Exception {
        try (var serving =
                server == PingPong.C
                        ? Program.start(List.of("rdma_server"))
                        : example("rdma-server", List.of())) {
            if (server == PingPong.JAVA) {
                serving.awaitOutput("waiting at");
            }
            var code = 1;
            var output = "";
            for (var attempt = 0; code != 0 && attempt < 20; attempt++) {
                try (var connecting =
                        client == PingPong.C
                                ? Program.start(List.of("rdma_client", "-s", address))
                                : example("rdma-client", List.of("-s", address))) {
                    code = connecting.await();
                    output = connecting.output();
                }
            }
            assertThat(code).as(output).isZero();
            assertThat(serving.await()).as(serving.output()).isZero();
            assertThat(client == PingPong.JAVA ? output : serving.output())
                    .contains("received 16 bytes: ");
        }
    }

    /**
     * Repeats the client until the server listens, because a C server does not print when it starts
     * to listen.
     */
    @ParameterizedTest(name = "{0}: {1} serves, {2} connects to {3} {4}")
    @CsvSource({
        "ucmatose, C, JAVA, 10.77.0.1, -c 3",
        "ucmatose, JAVA, C, 10.77.0.1, -c 3 -S 20000",
        "ucmatose, JAVA, JAVA, 10.77.0.1, -c 3 -m -t 8 -a 14",
        "ucmatose, C, JAVA, 10.77.0.1, -m -P ib",
        "ucmatose, C, JAVA, 10.77.1.1, -c 2",
        "ucmatose, JAVA, C, 10.77.1.1, -c 2",
        "udaddy, C, JAVA, 10.77.0.1, -c 3",
        "udaddy, JAVA, C, 10.77.0.1, -c 3 -S 1000",
        "udaddy, JAVA, JAVA, 10.77.0.1, -t 8",
    })
    void shouldConnectStepByStepLikeTheCProgram(
            String name, PingPong server, PingPong client, String address, String options)
            throws Exception {
        try (var serving = program(server, name, "-b", address, options)) {
            serving.awaitOutput(server == PingPong.C ? "starting server" : "waiting at");
            var code = 1;
            var output = "";
            for (var attempt = 0; code != 0 && attempt < 20; attempt++) {
                try (var connecting = program(client, name, "-s", address, options)) {
                    code = connecting.await();
                    output = connecting.output();
                }
            }
            assertThat(code).as(output).isZero();
            assertThat(serving.await()).as(serving.output()).isZero();
            for (var sideOutput : List.of(output, serving.output())) {
                assertThat(sideOutput).contains("data transfers complete", "test complete");
            }
        }
    }

    private static Program program(PingPong kind, String name, String... options)
            throws IOException {
        var words = List.of(String.join(" ", options).trim().split(" +"));
        if (kind == PingPong.JAVA) {
            return example(name, words);
        }
        var command = new ArrayList<>(List.of("stdbuf", "-oL", name)); // stdbuf flushes each line.
        command.addAll(words);
        return Program.start(command);
    }

    @ParameterizedTest(name = "{0} sends, {1} and {2} receive")
    @CsvSource({"C, JAVA, C", "JAVA, C, JAVA"})
    void shouldReachAllMembersOfAGroup(PingPong senderKind, PingPong firstKind, PingPong secondKind)
            throws Exception {
        var options = "-m 239.77.0.4 -b 10.77.0.1";
        try (var first = program(firstKind, "mckey", options);
                var second = program(secondKind, "mckey", options)) {
            first.awaitOutput("receiving data transfers");
            second.awaitOutput("receiving data transfers");
            for (var attempt = 0;
                    (first.isRunning() || second.isRunning()) && attempt < 20;
                    attempt++) {
                try (var sender = program(senderKind, "mckey", options, "-s")) {
                    assertThat(sender.await()).as(sender.output()).isZero();
                    assertThat(sender.output()).contains("data transfers complete");
                }
                // A member that lost a datagram waits for the datagrams of the next attempt.
                Thread.sleep(500);
            }
            for (var member : List.of(first, second)) {
                assertThat(member.await()).as(member.output()).isZero();
                assertThat(member.output()).contains("data transfers complete");
            }
        }
    }

    @Test
    void shouldServeThePingsOfManyClients() throws Exception {
        try (var serving = rping(PingPong.JAVA, "-s", "-P", "-v")) {
            serving.awaitOutput("waiting at port 7174 of 10.77.0.1 (rxe0), 10.77.1.1 (siw0)");
            try (var first = rping(PingPong.C, "-c", "-V", "-C", "3", "-a", SERVER);
                    var second = rping(PingPong.JAVA, "-cVC3", "-a", "10.77.1.1");
                    var third = rping(PingPong.JAVA, "-cVC3", "-a", SERVER, "-I", SERVER)) {
                for (var client : List.of(first, second, third)) {
                    assertThat(client.await()).as(client.output()).isZero();
                }
            }
            assertThat(serving.isRunning()).isTrue();
        }
        try (var serving = rping(PingPong.C, "-s", "-P", "-a", SERVER)) {
            serving.awaitOutput("rdma_listen");
            for (var count = 0; count < 2; count++) {
                try (var client = rping(PingPong.JAVA, "-cVC3", "-a", SERVER)) {
                    assertThat(client.await()).as(client.output()).isZero();
                }
            }
        }
    }

    private static Program rping(PingPong kind, String... options) throws IOException {
        if (kind == PingPong.JAVA) {
            return example("rping", List.of(options));
        }
        // With -d, rping prints when it listens. stdbuf flushes that line.
        var command = new ArrayList<>(List.of("stdbuf", "-oL", "rping", "-d"));
        command.addAll(List.of(options));
        return Program.start(command);
    }

    /** Kernels after 6.12 support on-demand paging on rxe. */
    @Test
    void shouldUseOnDemandPagingIfTheDeviceSupportsIt() throws Exception {
        try (var device = Verbs.system().open("rxe0")) {
            if (device.extendedAttributes().onDemand()) {
                shouldRunPingPong("rc", PingPong.JAVA, "-o -s 64", PingPong.JAVA, "-o -e -s 64");
            } else {
                try (var program = PingPong.JAVA.start("-o")) {
                    assertThat(program.await()).isEqualTo(1);
                    assertThat(program.output()).contains("ON_DEMAND", "EOPNOTSUPP");
                }
            }
        }
    }

    private static void assertSuccess(Program program) throws Exception {
        var exitCode = program.await();

        assertThat(exitCode).as(program + ": " + program.output()).isZero();
        assertThat(program.output())
                .doesNotContain("invalid data")
                .containsPattern(
                        // Ibv_ud_pingpong prints a colon.
                        "(?m)^  local address:  LID 0x0000, QPN 0x\\w{6}, PSN 0x\\w{6}[,:] GID ::ffff:10.77.0.1$")
                .containsPattern(
                        "(?m)^  remote address: LID 0x0000, QPN 0x\\w{6}, PSN 0x\\w{6}, GID ::ffff:10.77.0.1$")
                .containsPattern(
                        "(?m)^\\d+ bytes in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d Mbit/sec$")
                .containsPattern(
                        "(?m)^1000 iters in \\d+\\.\\d\\d seconds = \\d+\\.\\d\\d usec/iter$");
    }

    @Test
    void shouldDetectWrongDataAtTheServer() throws Exception {
        try (var server = PingPong.JAVA.start("-c")) {
            server.awaitListening(PORT);
            try (var client = PingPong.C.start("", SERVER)) {
                assertThat(client.await()).isZero();
                assertThat(server.await()).isEqualTo(1);
                assertThat(server.output()).contains("invalid data in page 0");
            }
        }
    }

    @Test
    void shouldEndWhenTheOtherSideIsKilled() throws Exception {
        try (var server = PingPong.JAVA.start("-n 100000000")) {
            server.awaitListening(PORT);
            try (var client = PingPong.C.start("-n 100000000", SERVER)) {
                server.awaitOutput("remote address");
                assertThat(client.isRunning()).isTrue();
            }
            assertThat(server.await()).isEqualTo(1);
            assertThat(server.output())
                    .containsPattern("RETRIES_EXCEEDED, that is, |No message has arrived for 30 s")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void shouldReportThatThePeerSentNoGid() throws Exception {
        try (var server = PingPong.JAVA.start("")) {
            server.awaitListening(PORT);
            try (var client = Program.start(List.of("ibv_rc_pingpong", "-d", "rxe0", SERVER))) {
                assertThat(server.await()).isEqualTo(1);
                assertThat(server.output())
                        .contains("cannot reach a peer without a GID, which RoCE requires")
                        .doesNotContain("\tat ");
                assertThat(client.await()).isEqualTo(1);
            }
        }
    }

    @Test
    void shouldRejectADatagramThatIsLongerThanAPacket() throws Exception {
        try (var program = PingPong.JAVA.startOver("ud", "-s 1025")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output())
                    .contains("A datagram on this port has at most 1024 bytes, not 1025.")
                    .doesNotContain("local address", "\tat ");
        }
    }

    @Test
    void shouldReportThatTheOtherSideHasFewerQueuePairs() throws Exception {
        try (var server = PingPong.JAVA.startOver("srq", "-q 5")) {
            server.awaitListening(PORT);
            try (var _ = PingPong.C.startOver("srq", "-q 4", SERVER)) {
                assertThat(server.await()).isEqualTo(1);
                assertThat(server.output())
                        .contains("The other side has 4 queue pairs, but this side has 5.")
                        .doesNotContain("\tat ");
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "rc-pingpong, -d rxe0 -g 1 -p 9, 'No program listens on port 9 of 10.77.0.1: Connection refused'",
        "ud-pingpong, -d rxe0 -g 1 -p 9, 'No program listens on port 9 of 10.77.0.1: Connection refused'",
        "rc-pingpong, -d rxe0 -g 77, 'Port 1 of rxe0 has no GID with index 77'",
        "rc-pingpong, -d rxe0 -g 1 -i 2, 'ibv_query_port failed for port 2 of rxe0'",
    })
    void shouldReportTheCause(String name, String options, String message) throws Exception {
        var arguments = new ArrayList<>(List.of(options.split(" ")));
        arguments.add(SERVER);
        try (var program = example(name, arguments)) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output()).contains(message).doesNotContain("\tat ");
        }
    }

    /** Without options, the program prints all devices. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-v",
                "-d rxe0",
                "-d siw0",
                "-vd rxe0",
                "-v --ib-dev=siw0 -i 1",
                "-l",
                "--list"
            })
    void shouldPrintTheSameAsTheCProgram(String options) throws Exception {
        var arguments = options.isEmpty() ? List.<String>of() : List.of(options.split(" "));
        var command = new ArrayList<>(List.of("ibv_devinfo"));
        command.addAll(arguments);
        try (var c = Program.start(command);
                var java = example("devinfo", arguments)) {
            assertThat(c.await()).as(c.output()).isZero();
            assertThat(java.await()).as(java.output()).isZero();
            assertThat(withFlagNamesOf(c.output(), java.output()).lines())
                    .containsExactlyElementsOf(c.output().lines().toList());
        }
    }

    /**
     * Replaces the names of two flags by the number that an older C program prints, because that
     * program has no names for them.
     */
    private static String withFlagNamesOf(String c, String java) {
        var unnamed = "Unknown flags: 0xC0";
        return c.contains(unnamed)
                ? java.replaceAll("SUPPORT_FLUSH\\n\\s*SUPPORT_ATOMIC_WRITE", unnamed)
                : java;
    }
}
