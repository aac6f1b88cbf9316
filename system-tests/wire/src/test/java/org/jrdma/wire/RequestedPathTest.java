package org.jrdma.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.processes.Program;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that the software fabric uses the path of a connect request of the kernel for the packets
 * of the accepting side.
 */
class RequestedPathTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int PORT = 7471;
    private static final int TYPE_OF_SERVICE = 104;

    @ParameterizedTest
    @EnumSource
    void shouldTakeTheTrafficClassAndTheFlowLabelFromTheRequest(Family family) throws Exception {
        try (var device = QueuePairFixture.openSoftware(family);
                var domain = device.newProtectionDomain();
                var completions = device.newCompletionQueue(16);
                var listener =
                        QueuePairFixture.connections()
                                .listen(new InetSocketAddress(family.software(), PORT));
                var client =
                        Program.start(
                                VethLinkToKernel.atKernel(
                                        "ucmatose",
                                        "-t",
                                        String.valueOf(TYPE_OF_SERVICE),
                                        "-c",
                                        "1",
                                        "-b",
                                        family.kernel(),
                                        "-s",
                                        family.software()))) {
            var options = ConnectionOptions.of(QueuePairOptions.reliable(completions));
            try (var connection = listener.accept(domain, options, TIMEOUT)) {
                var route = connection.queuePair().query().address().route().orElseThrow();

                assertThat(route.trafficClass()).as(client.output()).isEqualTo(TYPE_OF_SERVICE);
                assertThat(route.flowLabel()).isNotZero(); // The kernel chooses one.
            }
        }
    }
}
