package org.jrdma.containers;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Capability;
import com.github.dockerjava.api.model.Volume;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.testcontainers.containers.Container;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.utility.DockerImageName;

/**
 * A machine with a name and an address on a network, which runs one program on the software fabric:
 * a container with Java, the jars and a shell, and nothing else.
 */
final class Host implements AutoCloseable {

    private static final String IMAGE = "jrdma-host:test";
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final String JARS = "/jrdma";
    private static final String TESTS = "/tests";

    /** Where a machine has the directory that it shares with others. */
    static final String SHARED = "/shared";

    private final GenericContainer<?> container;
    private final Plan plan;
    private final DockerClient engine;

    /** What earlier runs of the program have written. */
    private int outputBefore;

    private Host(GenericContainer<?> container, Plan plan) {
        this.container = container;
        this.plan = plan;
        this.engine = container.getDockerClient();
    }

    /** Starts a machine, and on it a program, a module's class, with its arguments. */
    static Host running(Network network, String name, String program, String... arguments) {
        return named(network, name).run(program, arguments);
    }

    /** A machine that is not on yet. */
    static Plan named(Network network, String name) {
        return new Plan(network, name, Map.of("jrdma.soft.devices", "eth0"), Optional.empty());
    }

    /**
     * What a machine is to be.
     *
     * @param properties the system properties of its programs
     * @param shared a directory that it shares with others, at {@link #SHARED}
     */
    record Plan(
            Network network, String name, Map<String, String> properties, Optional<Path> shared) {

        Plan sharing(Path directory) {
            return new Plan(network, name, properties, Optional.of(directory));
        }

        Plan property(String key, String value) {
            var more = new TreeMap<>(properties);
            more.put(key, value);
            return new Plan(network, name, more, shared);
        }

        /** Starts it, and on it a program, a module's class or one of this project's tests. */
        Host run(String program, String... arguments) {
            return start(IMAGE, Map.of(), List.of(command(program, arguments)));
        }

        /** Starts it with an image that has a program, and what that program is told. */
        Host start(String image, Map<String, String> environment, List<String> command) {
            var container =
                    new GenericContainer<>(DockerImageName.parse(image))
                            .withImagePullPolicy(_ -> false)
                            .withNetwork(network)
                            .withNetworkAliases(name)
                            .withEnv(environment)
                            .withCommand(command.toArray(String[]::new))
                            .withStartupCheckStrategy(new Started())
                            .withCreateContainerCmdModifier(create -> {
                                create.withHostName(name);
                                Objects.requireNonNull(create.getHostConfig())
                                        .withBinds(mounts())
                                        .withCapAdd(Capability.NET_ADMIN); // to pull the cable
                            });
            container.start();
            return new Host(container, this);
        }

        private String[] command(String program, String... arguments) {
            var command =
                    new ArrayList<>(
                            List.of(
                                    "java",
                                    "-XX:+UseSerialGC",
                                    "-XX:TieredStopAtLevel=1",
                                    "--enable-native-access=org.jrdma.ffi"));
            properties.forEach((key, value) -> command.add("-D%s=%s".formatted(key, value)));
            command.addAll(List.of("--module-path", JARS));
            if (program.contains("/")) {
                command.addAll(List.of("--module", program));
            } else {
                command.addAll(List.of("--add-modules", "ALL-MODULE-PATH", "-cp", TESTS, program));
            }
            command.addAll(List.of(arguments));
            return command.toArray(String[]::new);
        }

        private List<Bind> mounts() {
            var mounts = new ArrayList<Bind>();
            mounts.add(readOnly(Path.of(System.getProperty("java.home")), "/jdk"));
            mounts.add(readOnly(Path.of(System.getProperty("jrdma.tests")), TESTS));
            Stream.of(System.getProperty("jrdma.jars").split(","))
                    .map(Path::of)
                    .map(jar -> readOnly(jar, JARS + "/" + jar.getFileName()))
                    .forEach(mounts::add);
            shared.ifPresent(directory ->
                    mounts.add(new Bind(directory.toString(), new Volume(SHARED), AccessMode.rw)));
            return mounts;
        }
    }

    private static Bind readOnly(Path source, String target) {
        return new Bind(source.toString(), new Volume(target), AccessMode.ro);
    }

    /** A program may be done before anyone has looked. */
    private static final class Started extends StartupCheckStrategy {
        @Override
        public StartupStatus checkStartupState(DockerClient engine, String container) {
            return StartupStatus.SUCCESSFUL;
        }
    }

    /** What the program has written since the machine was started. */
    String output() {
        return container.getLogs().substring(outputBefore);
    }

    /** Waits until the program has written something. */
    void awaitOutput(String part) throws InterruptedException {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!output().contains(part)) {
            if (!isRunning() || System.nanoTime() - deadline > 0) {
                throw new AssertionError("It does not say \"%s\": %s".formatted(part, output()));
            }
            Thread.sleep(50);
        }
    }

    /** Waits for the program's end. Returns its exit code. */
    long await() throws InterruptedException {
        var deadline = System.nanoTime() + PATIENCE.toNanos();
        while (isRunning()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("It does not end: " + output());
            }
            Thread.sleep(50);
        }
        return Objects.requireNonNull(state().getExitCodeLong());
    }

    private boolean isRunning() {
        return Boolean.TRUE.equals(state().getRunning());
    }

    private com.github.dockerjava.api.command.InspectContainerResponse.ContainerState state() {
        return engine.inspectContainerCmd(container.getContainerId()).exec().getState();
    }

    /** Takes its power away. */
    void kill() {
        engine.killContainerCmd(container.getContainerId()).exec();
    }

    /** Starts it again after its end, program and all. */
    void restart() {
        outputBefore = container.getLogs().length();
        engine.startContainerCmd(container.getContainerId()).exec();
    }

    /** Pulls its cable. */
    void cutLink() throws IOException, InterruptedException {
        execute("ip", "link", "set", "eth0", "down");
    }

    /** Plugs its cable in again. */
    void restoreLink() throws IOException, InterruptedException {
        execute("ip", "link", "set", "eth0", "up");
    }

    /** The number of its program on the machine that all containers are on. */
    long pid() {
        return Objects.requireNonNull(state().getPidLong());
    }

    /** Runs one more program beside the first, to its end. Returns what it has written. */
    String runBeside(String program, String... arguments) throws IOException, InterruptedException {
        return execute(plan.command(program, arguments));
    }

    /** Runs a command in it, which must succeed. Returns what it has written. */
    String execute(String... command) throws IOException, InterruptedException {
        Container.ExecResult result = container.execInContainer(command);
        if (result.getExitCode() != 0) {
            throw new IOException(String.join(" ", command) + ": " + result);
        }
        return result.getStdout();
    }

    @Override
    public void close() {
        container.stop();
    }
}
