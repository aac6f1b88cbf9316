package org.jrdma.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;

/**
 * Tests a volume with three servers on three hosts. A fourth host lends the NVMe drive, with a
 * controller for each host, and a fifth host writes files, whose data the servers redirect over
 * RDMA.
 */
class VolumeHostsTest {

    private static final String JRDMA = "org.jrdma.cli/org.jrdma.cli.Jrdma";
    private static final String WRITER = VolumeWriter.class.getName();
    private static final String LINK_SWITCH = LinkSwitch.class.getName();
    private static final String SERVERS = "one:7471,two:7471,three:7471";
    private static final int LEASE_MILLIS = 3000;
    private static final int MORE_FILES = 20;
    private static final Pattern WRITTEN = Pattern.compile("wrote (\\d+)\\.");
    private static final Pattern COORDINATOR =
            Pattern.compile("is the coordinator of epoch (\\d+)");

    /** The hosts to stop, the last first. */
    private final List<ProgramContainer> hosts = new ArrayList<>();

    private Network network;
    private Path fabric;
    private ProgramContainer storage;

    @BeforeEach
    void createVolume() throws Exception {
        network = Network.newNetwork();
        fabric = Files.createTempDirectory(Path.of("/dev/shm"), "jrdma-containers");
        storage = start(host("storage", 4), JRDMA, "lend", "--count", "5", "nvme");
        storage.awaitOutput("device 0x405: ");
        var created = storage.runBeside(JRDMA, "volume", "create", "--overwrite", "0x405");
        assertThat(created).contains("Created a volume of 67,108,864 bytes");
    }

    @AfterEach
    void stopHosts() throws Exception {
        hosts.reversed().forEach(ProgramContainer::close);
        network.close();
        try (var files = Files.walk(fabric)) {
            for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private ProgramContainer.Configuration host(String name, int node) {
        return ProgramContainer.named(network, name)
                .sharing(fabric)
                .property("jrdma.fabric", "software")
                .property("jrdma.sisci.fabric", ProgramContainer.SHARED)
                .property("jrdma.sisci.node", Integer.toString(node))
                .property("jrdma.sockets.transports", "tcp");
    }

    private ProgramContainer start(
            ProgramContainer.Configuration host, String program, String... arguments) {
        var started = host.run(program, arguments);
        hosts.add(started);
        return started;
    }

    private ProgramContainer server(String name, int node, String controller) {
        return start(
                host(name, node),
                JRDMA,
                "volume",
                "serve",
                "--name=" + name,
                "--drive=" + controller,
                "--listen=0.0.0.0:7471",
                "--servers=" + SERVERS,
                "--transports=verbs,sockets",
                "--lease=" + LEASE_MILLIS,
                "--session=" + LEASE_MILLIS);
    }

    /** Waits until one of the servers is the coordinator of a later epoch; returns it. */
    private static ProgramContainer awaitCoordinatorAfter(int epoch, ProgramContainer... servers)
            throws InterruptedException {
        var end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        while (System.nanoTime() - end < 0) {
            for (var server : servers) {
                if (lastEpoch(server) > epoch) {
                    return server;
                }
            }
            Thread.sleep(50);
        }
        throw new AssertionError(
                "No server is the coordinator of an epoch after %d: %s"
                        .formatted(
                                epoch, Stream.of(servers).map(ProgramContainer::output).toList()));
    }

    /** Returns the last epoch in which one of the servers was the coordinator; 0 if none was. */
    private static int lastEpoch(ProgramContainer... servers) {
        return epochs(servers).mapToInt(Integer::parseInt).max().orElse(0);
    }

    private static Stream<String> epochs(ProgramContainer... servers) {
        return Stream.of(servers)
                .flatMap(server -> COORDINATOR.matcher(server.history()).results())
                .map(line -> line.group(1));
    }

    /** Verifies that no two servers were the coordinator of the same epoch. */
    private static void assertNoSplit(ProgramContainer... servers) {
        assertThat(epochs(servers)).doesNotHaveDuplicates();
    }

    private ProgramContainer startWriter() throws InterruptedException {
        var writer = start(host("writer", 20), WRITER, SERVERS);
        writer.awaitOutput("wrote %d.".formatted(MORE_FILES));
        return writer;
    }

    /** Returns the number of files that are durable. */
    private static int written(ProgramContainer writer) {
        return WRITTEN.matcher(writer.output())
                .results()
                .mapToInt(line -> Integer.parseInt(line.group(1)) + 1)
                .max()
                .orElse(0);
    }

    private static void awaitMore(ProgramContainer writer) throws InterruptedException {
        writer.awaitOutput("wrote %d.".formatted(written(writer) + MORE_FILES));
    }

    /**
     * Stops the writer, and verifies on another host that each file is there whose write was
     * acknowledged. The number in the file that was overwritten is that of the last acknowledged
     * write, or of the next one.
     */
    private void assertNothingIsLost(ProgramContainer writer, ProgramContainer reader)
            throws Exception {
        writer.kill();
        assertThat(writer.await()).isNotZero();
        var count = written(writer);
        assertThat(reader.runBeside(WRITER, SERVERS, Integer.toString(count)))
                .containsAnyOf(
                        "%d files are correct, the last number is %d.".formatted(count, count - 1),
                        "%d files are correct, the last number is %d.".formatted(count, count));
    }

    private void assertConsistent(ProgramContainer... servers) throws Exception {
        for (var server : servers) {
            server.kill();
            assertThat(server.await()).isNotZero();
        }
        assertThat(storage.runBeside(JRDMA, "volume", "check", "0x405"))
                .isEqualTo("The volume in 0x405 is consistent.\n");
    }

    @Test
    void shouldLoseNothingWhenCoordinatorsAreKilledAndRestarted() throws Exception {
        var one = server("one", 8, "0x401");
        var _ = awaitCoordinatorAfter(0, one);
        var two = server("two", 12, "0x402");
        var three = server("three", 16, "0x403");
        var writer = startWriter();

        one.kill();
        var second = awaitCoordinatorAfter(lastEpoch(one), two, three);
        awaitMore(writer);
        one.restart();
        one.awaitOutput("one serves ");
        awaitMore(writer);
        assertThat(one.output()).doesNotContain("coordinator");

        second.kill();
        var third = awaitCoordinatorAfter(lastEpoch(second), one, two, three);
        awaitMore(writer);
        second.restart();
        second.awaitOutput(" serves ");
        awaitMore(writer);

        assertThat(writer.output()).doesNotContain("repeats");
        assertNoSplit(one, two, three);
        assertNothingIsLost(writer, third);
        assertConsistent(one, two, three);
    }

    @Test
    void shouldRefuseTheWritesOfACoordinatorThatWasCutOff() throws Exception {
        var one =
                start(
                        host("one", 8),
                        HostileVolumeServer.class.getName(),
                        "0x401",
                        SERVERS,
                        Integer.toString(LEASE_MILLIS));
        var _ = awaitCoordinatorAfter(0, one);
        var two = server("two", 12, "0x402");
        var three = server("three", 16, "0x403");
        var writer = startWriter();

        one.cutLink();
        one.runBeside(LINK_SWITCH, "cut");
        var second = awaitCoordinatorAfter(lastEpoch(one), two, three);
        one.awaitOutput("one is a standby");
        awaitMore(writer);

        one.execute("sh", "-c", ": > " + HostileVolumeServer.TRIGGER);
        one.awaitOutput("one has stopped to serve");
        one.runBeside(LINK_SWITCH, "restore");
        one.restoreLink();
        one.awaitOutput("The drive accepted 0 and refused 64 writes.");
        awaitMore(writer);

        assertThat(writer.output()).doesNotContain("repeats");
        assertNoSplit(one, two, three);
        assertNothingIsLost(writer, second);
        assertConsistent(two, three);
    }

    /** The session of the writer ends meanwhile, so that the writer repeats its write. */
    @Test
    void shouldKeepTheCoordinatorThatReachesTheDriveButNotTheNetwork() throws Exception {
        var one = server("one", 8, "0x401");
        var _ = awaitCoordinatorAfter(0, one);
        var two = server("two", 12, "0x402");
        var three = server("three", 16, "0x403");
        var writer = startWriter();

        one.cutLink();
        Thread.sleep(4 * LEASE_MILLIS);
        var before = written(writer);
        assertThat(two.output() + three.output()).doesNotContain("is the coordinator");
        one.restoreLink();
        writer.awaitOutput("wrote %d.".formatted(before + MORE_FILES));

        assertThat(one.output()).doesNotContain("standby");
        assertThat(two.output() + three.output()).doesNotContain("is the coordinator");
        assertNothingIsLost(writer, two);
        assertConsistent(one, two, three);
    }
}
