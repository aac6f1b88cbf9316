package org.jrdma.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.processes.Program;
import org.jrdma.verbs.model.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the connection manager of the software fabric against that of the kernel, with the program
 * rping on both sides.
 */
class RpingTest {

    private static final String PINGS = "20";
    private static final int CLIENTS = 16;

    @ParameterizedTest
    @CsvSource({"C, IPV4", "JAVA, IPV4", "C, IPV6", "JAVA, IPV6"})
    void shouldPing(ServerLanguage server, Family family) throws Exception {
        ping(server, family, true);
    }

    private static void ping(ServerLanguage server, Family family, boolean awaitsEnd)
            throws Exception {
        VethLinkToKernel.pathMtu(Mtu.BYTES_1024);
        var address = server == ServerLanguage.C ? family.kernel() : family.software();
        var isC = server == ServerLanguage.C;
        try (var serving = start(isC, family, "-s", "-a", address)) {
            serving.awaitOutput(isC ? "rdma_listen" : "waiting at");
            try (var calling = start(!isC, family, "-c", "-V", "-a", address)) {
                var status = calling.await();
                assertThat(calling.output())
                        .as(serving + ": " + serving.output())
                        .contains("ping data: rdma-ping-19: TUVWXYZ");
                assertThat(status).as(calling + ": " + calling.output()).isZero();
                serving.awaitOutput("server ping data: rdma-ping-19: TUVWXYZ");
                if (!isC && awaitsEnd) { // the exit code of the C program is random
                    assertThat(serving.await()).as(serving + ": " + serving.output()).isZero();
                }
            }
        }
    }

    /** The clients are C programs, because only one Java process can use the software device. */
    @Test
    void shouldServeManyClientsAtTheSameTime() throws Exception {
        VethLinkToKernel.pathMtu(Mtu.BYTES_1024);
        var family = Family.IPV4;
        var address = family.software();
        var clients = new ArrayList<Program>();
        try (var serving = start(false, family, "-s", "-P", "-a", address)) {
            serving.awaitOutput("waiting at");
            for (var number = 0; number < CLIENTS; number++) {
                clients.add(start(true, family, "-c", "-V", "-a", address));
            }
            for (var client : clients) {
                assertThat(client.await()).as(client + ": " + client.output()).isZero();
                assertThat(client.output())
                        .as(serving + ": " + serving.output())
                        .contains("ping data: rdma-ping-19: TUVWXYZ");
            }
            assertThat(serving.isRunning()).isTrue();
        } finally {
            for (var client : clients) {
                client.close();
            }
        }
    }

    /**
     * Does not await the end of the server. The C program ends after it has sent a single
     * disconnect request, and the kernel does not repeat a lost one without the program.
     */
    @ParameterizedTest
    @CsvSource({"C, loss 10%", "JAVA, loss 10%"})
    void shouldPingOnAFaultyWire(ServerLanguage server, String faults) throws Exception {
        VethLinkToKernel.faults("wire0", faults);
        VethLinkToKernel.faults("wire1", faults);
        try {
            ping(server, Family.IPV4, false);
        } finally {
            VethLinkToKernel.removeFaults();
        }
    }

    /** Starts the C program at the kernel's end, or the interop program at this end. */
    private static Program start(boolean isC, Family family, String... options) throws IOException {
        var words = new ArrayList<String>();
        if (isC) {
            // With -d, rping prints when it listens. stdbuf flushes that line.
            words.addAll(List.of("stdbuf", "-oL", "rping", "-d"));
        } else {
            words.add("rping");
        }
        words.addAll(List.of(options));
        words.addAll(List.of("-v", "-C", PINGS, "-S", "100"));
        var command = words.toArray(String[]::new);
        return isC
                ? Program.start(VethLinkToKernel.atKernel(command))
                : VethLinkToKernel.startExample(family, command);
    }
}
