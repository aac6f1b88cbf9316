package org.jrdma.wire;

import java.util.List;
import java.util.stream.Stream;
import org.jrdma.verbs.model.Mtu;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests unmodified programs of perftest on rxe1. {@link PerftestTool} is the other side, on the
 * software fabric.
 */
class PerftestTest {

    private static final int READS = 16;

    static Stream<Arguments> allCombinations() {
        return Stream.of(PerftestTool.values())
                .flatMap(tool ->
                        Stream.of(Family.values())
                                .flatMap(family ->
                                        Stream.of(Mtu.BYTES_1024, Mtu.BYTES_4096)
                                                .map(mtu -> Arguments.of(tool, family, mtu))));
    }

    @ParameterizedTest
    @MethodSource("allCombinations")
    void shouldRunAsServer(PerftestTool tool, Family family, Mtu mtu) throws Exception {
        PerftestRun.serve(tool, family, mtu, READS, List.of());
    }

    @ParameterizedTest
    @MethodSource("allCombinations")
    void shouldRunAsClient(PerftestTool tool, Family family, Mtu mtu) throws Exception {
        PerftestRun.call(tool, family, mtu, READS, List.of());
    }

    @ParameterizedTest
    @CsvSource({"READ_BANDWIDTH", "ATOMIC_BANDWIDTH"})
    void shouldSendReadsOneAtATimeIfThePeerAcceptsOnlyOne(PerftestTool tool) throws Exception {
        PerftestRun.call(tool, Family.IPV4, Mtu.BYTES_1024, READS, List.of("-o", "1"));
    }

    @ParameterizedTest
    @CsvSource({"READ_BANDWIDTH", "ATOMIC_BANDWIDTH"})
    void shouldAcceptReadsOneAtATime(PerftestTool tool) throws Exception {
        PerftestRun.serve(tool, Family.IPV4, Mtu.BYTES_1024, 1, List.of());
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE_BANDWIDTH, loss 1%",
        "WRITE_BANDWIDTH, delay 200us reorder 25% 50%",
        "READ_BANDWIDTH, loss 1%",
        "ATOMIC_BANDWIDTH, loss 1%",
        "SEND_BANDWIDTH, loss 1%",
        "SEND_BANDWIDTH, delay 200us reorder 25% 50%",
    })
    void shouldRunAsServerOnAFaultyWire(PerftestTool tool, String faults) throws Exception {
        withFaults(
                faults,
                () -> PerftestRun.serve(tool, Family.IPV4, Mtu.BYTES_4096, READS, List.of()));
    }

    @ParameterizedTest
    @CsvSource({
        "WRITE_BANDWIDTH, loss 1%",
        "WRITE_BANDWIDTH, delay 200us reorder 25% 50%",
        "READ_BANDWIDTH, loss 1%",
        "READ_BANDWIDTH, delay 200us reorder 25% 50%",
        "ATOMIC_BANDWIDTH, loss 1%",
        "ATOMIC_BANDWIDTH, delay 200us reorder 25% 50%",
        "SEND_BANDWIDTH, loss 1%",
        "SEND_BANDWIDTH, delay 200us reorder 25% 50%",
    })
    void shouldRunAsClientOnAFaultyWire(PerftestTool tool, String faults) throws Exception {
        withFaults(
                faults,
                () -> PerftestRun.call(tool, Family.IPV4, Mtu.BYTES_4096, READS, List.of()));
    }

    private interface Action {
        void run() throws Exception;
    }

    private static void withFaults(String faults, Action action) throws Exception {
        VethLinkToKernel.faults("wire0", faults);
        VethLinkToKernel.faults("wire1", faults);
        try {
            action.run();
        } finally {
            VethLinkToKernel.removeFaults();
        }
    }
}
