package org.jrdma.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;
import org.yaml.snakeyaml.Yaml;

/**
 * Tests the compose file and the Dockerfile for users. The script {@code test} has built the image
 * of the Dockerfile from a local base image, so that no registry is required.
 */
class ComposeTest {

    private static final String IMAGE = "jrdma:test";

    private Map<String, Service> services;

    /**
     * The properties of a service in the compose file. The test fails if a service has other
     * properties, because this class does not support them.
     */
    private record Service(
            List<String> command,
            Map<String, String> environment,
            List<String> healthCheck,
            List<String> mustBeHealthy) {

        @SuppressWarnings("unchecked")
        static Service of(Map<String, ?> definition) {
            assertThat(definition.keySet())
                    .isSubsetOf(
                            "build",
                            "image",
                            "networks",
                            "environment",
                            "command",
                            "healthcheck",
                            "depends_on");
            assertThat(definition.get("build")).isEqualTo(".");
            var health = (Map<String, ?>) definition.get("healthcheck");
            var before = (Map<String, Map<String, ?>>) definition.get("depends_on");
            if (before != null) {
                assertThat(before.values()).containsOnly(Map.of("condition", "service_healthy"));
            }
            return new Service(
                    (List<String>) definition.get("command"),
                    (Map<String, String>) definition.get("environment"),
                    health == null ? List.of() : (List<String>) health.get("test"),
                    before == null ? List.of() : List.copyOf(before.keySet()));
        }
    }

    @BeforeEach
    @SuppressWarnings("unchecked")
    void read() throws Exception {
        var file = Path.of(System.getProperty("jrdma.test.compose"));
        assertThat(file.resolveSibling("Dockerfile")).exists();
        Map<String, Map<String, Map<String, ?>>> definition =
                new Yaml().load(Files.readString(file));
        services = new TreeMap<>();
        definition
                .get("services")
                .forEach((name, service) -> services.put(name, Service.of(service)));
    }

    private ProgramContainer start(Network network, String name) {
        var service = services.get(name);
        return ProgramContainer.named(network, name)
                .start(IMAGE, service.environment(), service.command());
    }

    @Test
    void shouldMeasureBetweenTheHosts() throws Exception {
        assertThat(services).containsOnlyKeys("server", "client");
        assertThat(services.get("client").mustBeHealthy()).containsExactly("server");
        var health = services.get("server").healthCheck();
        assertThat(health).startsWith("CMD");

        try (var network = Network.newNetwork();
                var server = start(network, "server")) {
            server.awaitOutput("waiting on port");
            server.execute(health.stream().skip(1).toArray(String[]::new));
            try (var client = start(network, "client")) {
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
        var health = services.get("server").healthCheck();
        try (var network = Network.newNetwork();
                var idle =
                        ProgramContainer.named(network, "idle")
                                .start(
                                        IMAGE,
                                        Map.of(),
                                        List.of("ping", "--fabric", "SOFTWARE", "tcp"))) {
            idle.awaitOutput("tcp");
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> idle.execute(health.stream().skip(1).toArray(String[]::new)));
        }
    }
}
