package org.jrdma.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.processes.Program;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests programs of rdma-core that use the connection manager. One side runs the C program on rxe1,
 * and the other side runs the interop program on the software fabric.
 */
class RdmaCoreConnectionProgramsTest {

    @ParameterizedTest
    @CsvSource({"C, IPV4", "JAVA, IPV4", "C, IPV6", "JAVA, IPV6"})
    void shouldExchangeAMessage(ServerLanguage server, Family family) throws Exception {
        var isC = server == ServerLanguage.C;
        var serverAddress = isC ? family.kernel() : family.software();
        try (var serving =
                isC
                        ? Program.start(
                                VethLinkToKernel.atKernel("rdma_server", "-s", serverAddress))
                        : VethLinkToKernel.startExample(
                                family, "rdma-server", "-s", serverAddress)) {
            if (!isC) {
                serving.awaitOutput("waiting at");
            }
            var output =
                    runUntilSuccess(() ->
                            isC
                                    ? VethLinkToKernel.startExample(
                                            family, "rdma-client", "-s", serverAddress)
                                    : Program.start(
                                            VethLinkToKernel.atKernel(
                                                    "rdma_client", "-s", serverAddress)));
            assertThat(serving.await()).as(serving.output()).isZero();
            assertThat(isC ? output : serving.output()).contains("received 16 bytes: ");
        }
    }

    private interface Client {
        Program start() throws IOException;
    }

    /**
     * Starts a client repeatedly until it succeeds, because the client fails until the server
     * listens. Returns the output of the client.
     */
    private static String runUntilSuccess(Client client) throws Exception {
        var code = 1;
        var output = "";
        for (var attempt = 0; code != 0 && attempt < 20; attempt++) {
            try (var running = client.start()) {
                code = running.await();
                output = running.output();
            }
        }
        assertThat(code).as(output).isZero();
        return output;
    }

    /**
     * Uses three connections (ucmatose) or three lookups of a datagram service (udaddy), and sends
     * messages in both directions.
     */
    @ParameterizedTest
    @CsvSource({
        "ucmatose, C, IPV4",
        "ucmatose, JAVA, IPV4",
        "ucmatose, C, IPV6",
        "ucmatose, JAVA, IPV6",
        "udaddy, C, IPV4",
        "udaddy, JAVA, IPV4",
        "udaddy, C, IPV6",
        "udaddy, JAVA, IPV6"
    })
    void shouldConnectAndTransferData(String name, ServerLanguage server, Family family)
            throws Exception {
        var isC = server == ServerLanguage.C;
        var address = isC ? family.kernel() : family.software();
        try (var serving = program(isC, family, name, "-c", "3", "-b", address)) {
            serving.awaitOutput(isC ? "starting server" : "waiting at");
            var output =
                    runUntilSuccess(() -> program(!isC, family, name, "-c", "3", "-s", address));
            assertThat(serving.await()).as(serving.output()).isZero();
            for (var text : List.of(output, serving.output())) {
                assertThat(text).contains("data transfers complete", "test complete");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ServerLanguage.class)
    void shouldReachAMemberOfAMulticastGroup(ServerLanguage receiver) throws Exception {
        var isC = receiver == ServerLanguage.C;
        var family = Family.IPV4;
        var receives = isC ? family.kernel() : family.software();
        var sends = isC ? family.software() : family.kernel();
        try (var member = program(isC, family, "mckey", "-m", "239.78.0.1", "-b", receives)) {
            member.awaitOutput("receiving data transfers");
            for (var attempt = 0; member.isRunning() && attempt < 20; attempt++) {
                try (var sender =
                        program(!isC, family, "mckey", "-s", "-m", "239.78.0.1", "-b", sends)) {
                    assertThat(sender.await()).as(sender.output()).isZero();
                }
                Thread.sleep(500); // A datagram may have been lost, so the sender runs again.
            }
            assertThat(member.await()).as(member.output()).isZero();
            assertThat(member.output()).contains("data transfers complete");
        }
    }

    private static Program program(boolean isC, Family family, String... words) throws IOException {
        if (!isC) {
            return VethLinkToKernel.startExample(family, words);
        }
        var command = new ArrayList<>(VethLinkToKernel.atKernel("stdbuf", "-oL"));
        command.addAll(List.of(words));
        return Program.start(command);
    }
}
