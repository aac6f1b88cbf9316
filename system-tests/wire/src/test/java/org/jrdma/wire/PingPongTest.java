package org.jrdma.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.processes.Program;
import org.jrdma.verbs.model.Mtu;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the unmodified ping-pong programs of rdma-core on rxe1 against the interop programs on the
 * software fabric.
 */
class PingPongTest {

    private static final int PORT = 18515;
    private static final int ITERATIONS = 500;

    @ParameterizedTest
    @CsvSource({
        "rc, C, IPV4, 1024, ''",
        "rc, C, IPV4, 1024, -e",
        "rc, C, IPV4, 4096, ''",
        "rc, C, IPV4, 4096, -e",
        "rc, C, IPV6, 1024, ''",
        "rc, C, IPV6, 4096, -e",
        "rc, JAVA, IPV4, 1024, ''",
        "rc, JAVA, IPV4, 1024, -e",
        "rc, JAVA, IPV4, 4096, ''",
        "rc, JAVA, IPV4, 4096, -e",
        "rc, JAVA, IPV6, 1024, ''",
        "rc, JAVA, IPV6, 4096, -e",
        "uc, C, IPV4, 1024, ''",
        "uc, C, IPV6, 4096, -e",
        "uc, JAVA, IPV4, 4096, -e",
        "uc, JAVA, IPV6, 1024, ''",
        "srq, C, IPV4, 1024, ''",
        "srq, C, IPV6, 4096, -e",
        "srq, JAVA, IPV4, 4096, -e",
        "srq, JAVA, IPV6, 1024, ''",
        "ud, C, IPV4, 1024, ''",
        "ud, C, IPV6, 4096, -e",
        "ud, JAVA, IPV4, 4096, -e",
        "ud, JAVA, IPV6, 1024, ''",
    })
    void shouldExchangeMessages(
            String transport, ServerLanguage server, Family family, int mtu, String options)
            throws Exception {
        VethLinkToKernel.pathMtu(Mtu.ofBytes(mtu));
        var all = new ArrayList<>(List.of("-c"));
        if (!transport.equals("ud")) { // A datagram always fits into one packet.
            all.addAll(List.of("-m", String.valueOf(mtu)));
        }
        if (!options.isEmpty()) {
            all.addAll(List.of(options.split(" ", -1)));
        }
        if (!all.contains("-n")) {
            all.addAll(List.of("-n", String.valueOf(ITERATIONS)));
        }
        try (var serving = start(server == ServerLanguage.C, transport, family, all, List.of())) {
            serving.awaitListening(PORT);
            var host = server == ServerLanguage.C ? Family.IPV4.kernel() : Family.IPV4.software();
            try (var calling =
                    start(server == ServerLanguage.JAVA, transport, family, all, List.of(host))) {
                assertSucceeded(calling);
                assertSucceeded(serving);
            }
        }
    }

    /**
     * Messages of one byte, of one byte more than a page, and of many packets; and a receive queue
     * with one slot, so that a message can arrive before its receive is posted.
     */
    @ParameterizedTest
    @CsvSource({
        "rc, C, IPV6, -s 1",
        "rc, JAVA, IPV6, -s 4097",
        "rc, C, IPV4, -s 1000000 -n 20",
        "rc, JAVA, IPV6, -s 1000000 -n 20",
        "rc, C, IPV6, -r 1",
        "rc, JAVA, IPV4, -r 1",
        "srq, JAVA, IPV4, -s 1",
        "ud, C, IPV6, -s 1",
    })
    void shouldExchangeMessagesOfUnusualSizes(
            String transport, ServerLanguage server, Family family, String options)
            throws Exception {
        shouldExchangeMessages(transport, server, family, 1024, options);
    }

    @ParameterizedTest
    @CsvSource({
        "C, loss 1%",
        "JAVA, loss 1%",
        "C, delay 200us reorder 25% 50%",
        "JAVA, delay 200us reorder 25% 50%",
    })
    void shouldExchangeMessagesOnAFaultyWire(ServerLanguage server, String faults)
            throws Exception {
        VethLinkToKernel.faults("wire0", faults);
        VethLinkToKernel.faults("wire1", faults);
        try {
            shouldExchangeMessages("rc", server, Family.IPV4, 1024, "");
        } finally {
            VethLinkToKernel.removeFaults();
        }
    }

    /** Starts the C program at the kernel's end, or the interop program at this end. */
    private static Program start(
            boolean isC, String transport, Family family, List<String> options, List<String> host)
            throws IOException {
        var words = new ArrayList<String>();
        if (isC) {
            words.addAll(
                    List.of(
                            "ibv_" + transport + "_pingpong",
                            "-d",
                            VethLinkToKernel.KERNEL_DEVICE));
            words.addAll(List.of("-g", String.valueOf(family.kernelGid())));
        } else {
            words.add(transport + "-pingpong");
        }
        words.addAll(options);
        words.addAll(host);
        var command = words.toArray(String[]::new);
        return isC
                ? Program.start(VethLinkToKernel.atKernel(command))
                : VethLinkToKernel.startExample(family, command);
    }

    private static void assertSucceeded(Program program) throws Exception {
        var exitCode = program.await();

        assertThat(exitCode).as(program + ": " + program.output()).isZero();
        assertThat(program.output())
                .doesNotContain("invalid data")
                .containsPattern("(?m)^\\d+ iters in .* usec/iter$");
    }
}
