package org.jrdma.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.testcontainers.containers.Network;
import org.yaml.snakeyaml.Yaml;

/**
 * A compose file for users. Tests start its services without the compose command, and with an image
 * that the script {@code test} has built from a local base image, so that no registry is required.
 */
record ComposeFile(Map<String, Service> services) {

    /**
     * The properties that this class supports. Reading a file with other properties fails, because
     * a test would not start its services as a user does.
     */
    private static final Set<String> PROPERTIES =
            Set.of(
                    "build",
                    "image",
                    "networks",
                    "hostname",
                    "volumes",
                    "environment",
                    "command",
                    "healthcheck",
                    "depends_on");

    /** A variable that a user must set, with the message for users who have not set it. */
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{(\\w+):\\?[^}]*}");

    private static final Pattern READ_ONLY_VOLUME = Pattern.compile("([^:]+):(/[^:]+):ro");

    /**
     * A service of the file.
     *
     * @param mounts the folders of this machine that the service can read, and their paths in the
     *     container
     */
    record Service(
            List<String> command,
            Map<String, String> environment,
            List<String> healthCheck,
            List<String> mustBeHealthy,
            Map<Path, String> mounts) {

        private static Service of(String name, Map<String, ?> definition) {
            assertThat(definition.keySet()).isSubsetOf(PROPERTIES);
            assertThat(definition.get("build")).isEqualTo(".");
            assertThat(property(definition, "hostname", name)).isEqualTo(name);
            Map<String, Map<String, ?>> before = property(definition, "depends_on", Map.of());
            assertThat(before.values())
                    .allSatisfy(condition ->
                            assertThat(condition)
                                    .isEqualTo(Map.of("condition", "service_healthy")));
            return new Service(
                    property(definition, "command", List.of()),
                    property(definition, "environment", Map.of()),
                    property(
                            property(definition, "healthcheck", Map.of()),
                            "test",
                            List.<String>of()),
                    List.copyOf(before.keySet()),
                    mounts(property(definition, "volumes", List.of())));
        }

        @SuppressWarnings("unchecked")
        private static <T> T property(Map<String, ?> definition, String name, T absent) {
            var value = definition.get(name);
            return value == null ? absent : (T) value;
        }

        private static Map<Path, String> mounts(List<String> volumes) {
            var mounts = new TreeMap<Path, String>();
            for (var volume : volumes) {
                var parts = READ_ONLY_VOLUME.matcher(volume);
                assertThat(parts.matches()).as(volume).isTrue();
                mounts.put(Path.of(parts.group(1)), parts.group(2));
            }
            return mounts;
        }
    }

    /**
     * Reads a file, which must be in the same folder as its Dockerfile.
     *
     * @param folder the folder, relative to the root of the repository
     * @param variables the values of the variables in the file
     */
    static ComposeFile read(String folder, Map<String, String> variables) throws IOException {
        var file = Path.of(System.getProperty("jrdma.test.root")).resolve(folder, "compose.yaml");
        assertThat(file.resolveSibling("Dockerfile")).exists();
        var text =
                VARIABLE.matcher(Files.readString(file))
                        .replaceAll(variable ->
                                Matcher.quoteReplacement(variables.get(variable.group(1))));
        Map<String, Map<String, Map<String, ?>>> definition = new Yaml().load(text);
        var services = new TreeMap<String, Service>();
        definition
                .get("services")
                .forEach((name, service) -> services.put(name, Service.of(name, service)));
        return new ComposeFile(services);
    }

    /** Returns the same services with additional environment variables. */
    ComposeFile withEnvironment(Map<String, String> variables) {
        var changed = new TreeMap<String, Service>();
        services.forEach((name, service) -> {
            var environment = new TreeMap<>(service.environment());
            environment.putAll(variables);
            changed.put(
                    name,
                    new Service(
                            service.command(),
                            environment,
                            service.healthCheck(),
                            service.mustBeHealthy(),
                            service.mounts()));
        });
        return new ComposeFile(changed);
    }

    /** Starts a service. */
    ProgramContainer start(Network network, String name, String image) {
        return start(network, name, image, services.get(name).command());
    }

    /** Starts a service with another command. */
    ProgramContainer start(Network network, String name, String image, List<String> command) {
        var service = services.get(name);
        return ProgramContainer.named(network, name)
                .mounting(service.mounts())
                .start(image, service.environment(), command);
    }

    /**
     * Runs the health check of a service in a container.
     *
     * @throws IOException if the container is not healthy
     */
    void checkHealth(String name, ProgramContainer container)
            throws IOException, InterruptedException {
        var check = services.get(name).healthCheck();
        assertThat(check).startsWith("CMD");
        container.execute(check.stream().skip(1).toArray(String[]::new));
    }
}
