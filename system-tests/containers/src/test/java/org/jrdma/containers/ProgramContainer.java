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
 * A container that runs one program on the software fabric. It is a host with a name and an address
 * on a network, and contains only Java, the jars and a shell.
 */
final class ProgramContainer implements AutoCloseable {

    private static final String IMAGE = "jrdma-host:test";

    /** Machines of CI are up to ten times slower than quiet ones. */
    private static final Duration TIMEOUT = Duration.ofMinutes(4);

    private static final String JARS = "/jrdma";
    private static final String TESTS = "/tests";

    /** The path of the directory that a host shares with others. */
    static final String SHARED = "/shared";

    private final GenericContainer<?> container;
    private final Configuration configuration;
    private final DockerClient engine;

    /** The length of the output of earlier runs of the program. */
    private int outputBefore;

    private ProgramContainer(GenericContainer<?> container, Configuration configuration) {
        this.container = container;
        this.configuration = configuration;
        this.engine = container.getDockerClient();
    }

    /** Starts a host and a program on it, which is the main class of a module. */
    static ProgramContainer running(
            Network network, String name, String program, String... arguments) {
        return named(network, name).run(program, arguments);
    }

    /** Returns the configuration of a host that is not started. */
    static Configuration named(Network network, String name) {
        return new Configuration(
                network, name, Map.of("jrdma.soft.devices", "eth0"), Optional.empty(), Map.of());
    }

    /**
     * The configuration of a host.
     *
     * @param network the network of the host
     * @param name the name of the host on the network
     * @param properties the system properties of its programs
     * @param shared a directory that it shares with other hosts, mounted at {@link #SHARED}
     * @param readable directories of this machine that the host can read, and their paths on it
     */
    record Configuration(
            Network network,
            String name,
            Map<String, String> properties,
            Optional<Path> shared,
            Map<Path, String> readable) {

        Configuration sharing(Path directory) {
            return new Configuration(network, name, properties, Optional.of(directory), readable);
        }

        Configuration mounting(Map<Path, String> directories) {
            return new Configuration(network, name, properties, shared, directories);
        }

        Configuration property(String key, String value) {
            var more = new TreeMap<>(properties);
            more.put(key, value);
            return new Configuration(network, name, more, shared, readable);
        }

        /**
         * Starts a host and a program on it: the main class of a module, or a class of these tests.
         */
        ProgramContainer run(String program, String... arguments) {
            return start(IMAGE, Map.of(), List.of(command(program, arguments)));
        }

        /**
         * Starts a host with an image that contains a program, and passes the arguments to the
         * program.
         */
        ProgramContainer start(
                String image, Map<String, String> environment, List<String> command) {
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
                                        // for cutLink and restoreLink
                                        .withCapAdd(Capability.NET_ADMIN);
                            });
            container.start();
            return new ProgramContainer(container, this);
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
            mounts.add(readOnly(Path.of(System.getProperty("jrdma.test.tests")), TESTS));
            Stream.of(System.getProperty("jrdma.test.jars").split(","))
                    .map(Path::of)
                    .map(jar -> readOnly(jar, JARS + "/" + jar.getFileName()))
                    .forEach(mounts::add);
            readable.forEach((directory, target) -> mounts.add(readOnly(directory, target)));
            shared.ifPresent(directory ->
                    mounts.add(new Bind(directory.toString(), new Volume(SHARED), AccessMode.rw)));
            return mounts;
        }
    }

    private static Bind readOnly(Path source, String target) {
        return new Bind(source.toString(), new Volume(target), AccessMode.ro);
    }

    /** Reports success immediately, because a program may have ended before the check. */
    private static final class Started extends StartupCheckStrategy {
        @Override
        public StartupStatus checkStartupState(DockerClient engine, String container) {
            return StartupStatus.SUCCESSFUL;
        }
    }

    /** Returns the output of the program since the host was last started. */
    String output() {
        return container.getLogs().substring(outputBefore);
    }

    /** Returns the output of all runs of the program. */
    String history() {
        return container.getLogs();
    }

    /** Waits until the program has printed a text. */
    void awaitOutput(String part) throws InterruptedException {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!output().contains(part)) {
            if (!isRunning() || System.nanoTime() - deadline > 0) {
                throw new AssertionError(
                        "The output does not contain \"%s\": %s".formatted(part, output()));
            }
            Thread.sleep(50);
        }
    }

    /** Waits until the program ends; returns its exit code. */
    long await() throws InterruptedException {
        var deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (isRunning()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("The program does not end: " + output());
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

    /** Kills all processes of the host, like a loss of power. */
    void kill() {
        engine.killContainerCmd(container.getContainerId()).exec();
    }

    /** Starts the host and its program again after the program has ended. */
    void restart() {
        outputBefore = container.getLogs().length();
        engine.startContainerCmd(container.getContainerId()).exec();
    }

    /** Disables the network interface. */
    void cutLink() throws IOException, InterruptedException {
        execute("ip", "link", "set", "eth0", "down");
    }

    /** Enables the network interface again. */
    void restoreLink() throws IOException, InterruptedException {
        execute("ip", "link", "set", "eth0", "up");
    }

    /** Returns the process ID of the program in the PID namespace of the container engine. */
    long pid() {
        return Objects.requireNonNull(state().getPidLong());
    }

    /** Runs another program on the host; returns its output. */
    String runBeside(String program, String... arguments) throws IOException, InterruptedException {
        return execute(configuration.command(program, arguments));
    }

    /** Runs a command on the host, which must succeed; returns its output. */
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
