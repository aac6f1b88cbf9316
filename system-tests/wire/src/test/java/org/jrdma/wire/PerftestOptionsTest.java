package org.jrdma.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests programs of perftest on rxe1 with options that {@link PerftestTest} does not use, and a
 * program that is killed.
 */
class PerftestOptionsTest {

    private static final int READS = 16;

    /** The longest message with the option -a. */
    private static final int MAX_BYTES = 8 << 20;

    /** The C program waits for events, sends inline, or sends nothing inline. */
    @ParameterizedTest
    @CsvSource({
        "SEND_BANDWIDTH, -e",
        "READ_BANDWIDTH, -e",
        "SEND_BANDWIDTH, -I 64",
        "WRITE_LATENCY, -I 0",
        "WRITE_LATENCY, -I 64",
    })
    void shouldRunAsServerWithOptionsOfTheClient(PerftestTool tool, String options)
            throws Exception {
        var more = List.of(options.split(" ", -1));
        PerftestRun.serve(tool, Family.IPV4, Mtu.BYTES_1024, READS, more);
    }

    @Test
    void shouldServeWritesOfAllSizes() throws Exception {
        var mtu = Mtu.BYTES_1024;
        VethLinkToKernel.pathMtu(mtu);
        var tool = PerftestTool.WRITE_BANDWIDTH;
        var options = tool.options(Family.IPV4, mtu, List.of("-a", "-n", "5"));
        options.add(Family.IPV4.software());
        try (var side = QueuePairFixture.software(Family.IPV4, PerftestRun.bytesNeeded(MAX_BYTES));
                var listener = PerftestRun.listen();
                var client = PerftestRun.start(options);
                var dialogue = PerftestDialogue.withClient(listener)) {
            var run = new PerftestRun(side, dialogue, false, MAX_BYTES, MAX_BYTES, mtu, READS);
            PerftestRun.execute(tool, run, client);
            assertThat(client.output()).containsPattern("(?m)^ 2 +5 +\\S");
            assertThat(client.output()).containsPattern("(?m)^ %d +5 +\\S".formatted(MAX_BYTES));
        }
    }

    @Test
    void shouldFailIfThePeerIsKilledAndServeTheNextOne() throws Exception {
        var mtu = Mtu.BYTES_1024;
        VethLinkToKernel.pathMtu(mtu);
        var tool = PerftestTool.WRITE_BANDWIDTH;
        try (var server = PerftestRun.start(tool.options(Family.IPV4, mtu, List.of()))) {
            server.awaitListening(PerftestDialogue.PORT);
            try (var side =
                            QueuePairFixture.software(
                                    Family.IPV4,
                                    PerftestRun.bytesNeeded(PerftestRun.TARGET_BYTES));
                    var dialogue = PerftestDialogue.withServer(Family.IPV4.kernel())) {
                var run =
                        new PerftestRun(
                                side,
                                dialogue,
                                true,
                                tool.bytes,
                                PerftestRun.TARGET_BYTES,
                                mtu,
                                READS);
                run.connect();
                run.synchronize();
                var request = side.queuePair().prepareWrite(run.local(), run.remote());
                side.postAll(request, 10);

                ProcessHandle.of(Long.parseLong(server.pid())).orElseThrow().destroyForcibly();
                server.await();

                side.post(request);
                side.awaitAny();
                assertThat(side.cursor().next()).isTrue();
                assertThat(side.cursor().status()).isEqualTo(CompletionStatus.RETRIES_EXCEEDED);
            }
        }
        PerftestRun.serve(tool, Family.IPV4, mtu, READS, List.of());
    }
}
