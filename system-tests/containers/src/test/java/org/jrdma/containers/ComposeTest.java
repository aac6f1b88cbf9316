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
 * The compose file for users, on the image that their Dockerfile makes: {@code test} has built it
 * on an image of this machine's, since no registry need be in reach.
 */
class ComposeTest {

    private static final String IMAGE = "jrdma:test";

    private Map<String, Service> services;

    /** What is said of a service; whoever says more has to have it tested here. */
    private record Service(
            List<String> command,
            Map<String, String> environment,
            List<String> healthCheck,
            List<String> mustBeHealthy) {

        @SuppressWarnings("unchecked")
        static Service of(Map<String, ?> said) {
            assertThat(said.keySet())
                    .isSubsetOf(
                            "build",
                            "image",
                            "networks",
                            "environment",
                            "command",
                            "healthcheck",
                            "depends_on");
            assertThat(said.get("build")).isEqualTo(".");
            var health = (Map<String, ?>) said.get("healthcheck");
            var before = (Map<String, Map<String, ?>>) said.get("depends_on");
            if (before != null) {
                assertThat(before.values()).containsOnly(Map.of("condition", "service_healthy"));
            }
            return new Service(
                    (List<String>) said.get("command"),
                    (Map<String, String>) said.get("environment"),
                    health == null ? List.of() : (List<String>) health.get("test"),
                    before == null ? List.of() : List.copyOf(before.keySet()));
        }
    }

    @BeforeEach
    @SuppressWarnings("unchecked")
    void read() throws Exception {
        var file = Path.of(System.getProperty("jrdma.compose"));
        assertThat(file.resolveSibling("Dockerfile")).exists();
        Map<String, Map<String, Map<String, ?>>> said = new Yaml().load(Files.readString(file));
        services = new TreeMap<>();
        said.get("services").forEach((name, service) -> services.put(name, Service.of(service)));
    }

    private Host start(Network network, String name) {
        var service = services.get(name);
        return Host.named(network, name).start(IMAGE, service.environment(), service.command());
    }

    @Test
    void shouldMeasureBetweenItsHosts() throws Exception {
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
    void shouldSayWhatThereIsAndUntoldWhatItCan() throws Exception {
        try (var network = Network.newNetwork();
                var told = Host.named(network, "bare").start(IMAGE, Map.of(), List.of("devices"));
                var untold = Host.named(network, "bare").start(IMAGE, Map.of(), List.of())) {
            assertThat(told.await()).as(told.output()).isZero();
            assertThat(told.output()).contains("soft0").doesNotContain("WARNING");
            assertThat(untold.await()).as(untold.output()).isZero();
            assertThat(untold.output()).contains("devices").contains("doctor").contains("perf");
        }
    }

    @Test
    void shouldKnowWhoIsNotHealthyYet() throws Exception {
        var health = services.get("server").healthCheck();
        try (var network = Network.newNetwork();
                var idle =
                        Host.named(network, "idle")
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
