package org.jrdma.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;

/** Tests the compose file and the Dockerfile of the jrdma command. */
class ComposeTest {

    private static final String IMAGE = "jrdma:test";

    private ComposeFile compose;

    @BeforeEach
    void read() throws Exception {
        compose = ComposeFile.read(".", Map.of());
    }

    @Test
    void shouldMeasureBetweenTheHosts() throws Exception {
        assertThat(compose.services()).containsOnlyKeys("server", "client");
        assertThat(compose.services().get("client").mustBeHealthy()).containsExactly("server");

        try (var network = Network.newNetwork();
                var server = compose.start(network, "server", IMAGE)) {
            server.awaitOutput("waiting on port");
            compose.checkHealth("server", server);
            try (var client = compose.start(network, "client", IMAGE)) {
                assertThat(client.await()).as(client.output() + server.output()).isZero();

                assertThat(client.output())
                        .containsPattern("write: RDMA WRITE, on the software fabric;.*\n.*\n +64 ")
                        .containsPattern("read: RDMA READ, on the software fabric;.*\n.*\n +64 ")
                        .containsPattern(
                                "tcp: sockets over tcp, to \\S+ by tcp;.*\n.*\n +64 .*\n +4K ");
            }
        }
    }

    @Test
    void shouldListDevicesAndPrintTheHelpWithoutArguments() throws Exception {
        try (var network = Network.newNetwork();
                var listing =
                        ProgramContainer.named(network, "bare")
                                .start(IMAGE, Map.of(), List.of("devices"));
                var help =
                        ProgramContainer.named(network, "bare").start(IMAGE, Map.of(), List.of())) {
            assertThat(listing.await()).as(listing.output()).isZero();
            assertThat(listing.output()).contains("soft0").doesNotContain("WARNING");
            assertThat(help.await()).as(help.output()).isZero();
            assertThat(help.output()).contains("devices").contains("doctor").contains("perf");
        }
    }

    @Test
    void shouldReportAHostThatIsNotHealthyYet() throws Exception {
        try (var network = Network.newNetwork();
                var idle =
                        ProgramContainer.named(network, "idle")
                                .start(
                                        IMAGE,
                                        Map.of(),
                                        List.of("ping", "--fabric", "SOFTWARE", "tcp"))) {
            idle.awaitOutput("tcp");
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> compose.checkHealth("server", idle));
        }
    }
}
