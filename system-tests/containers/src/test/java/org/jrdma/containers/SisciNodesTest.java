package org.jrdma.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;

/**
 * Tests SISCI nodes in separate containers. The nodes form a fabric through a shared directory in
 * memory. They share neither a PID namespace nor a network interface.
 */
class SisciNodesTest {

    private static final String EXAMPLES = "org.jrdma.examples/org.jrdma.examples.";
    private static final String OWNER = SegmentOwner.class.getName();
    private static final String USER = SegmentUser.class.getName();
    private static final String LINK_SWITCH = LinkSwitch.class.getName();
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private Network network;
    private Path fabric;

    @BeforeEach
    void createNetwork() throws Exception {
        network = Network.newNetwork();
        fabric = Files.createTempDirectory(Path.of("/dev/shm"), "jrdma-containers");
    }

    @AfterEach
    void removeNetwork() throws Exception {
        network.close();
        for (var file : files()) {
            Files.delete(fabric.resolve(file));
        }
        Files.delete(fabric);
    }

    private ProgramContainer node(int id, String program, String... arguments) {
        return ProgramContainer.named(network, "node" + id)
                .sharing(fabric)
                .property("jrdma.fabric", "software")
                .property("jrdma.sisci.fabric", ProgramContainer.SHARED)
                .property("jrdma.sisci.node", Integer.toString(id))
                .run(program, arguments);
    }

    private List<String> files() throws IOException {
        try (var files = Files.list(fabric)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private void awaitFiles(String... names) throws Exception {
        var end = System.nanoTime() + TIMEOUT.toNanos();
        while (!files().equals(List.of(names)) && System.nanoTime() - end < 0) {
            Thread.sleep(50);
        }
        assertThat(files()).containsExactly(names);
    }

    private static void assertSucceeds(ProgramContainer host) throws InterruptedException {
        assertThat(host.await()).as(host.output()).isZero();
    }

    @Test
    void shouldStoreIntoTheMemoryOfAnotherNode() throws Exception {
        try (var owner = node(4, EXAMPLES + "sharedsegment.SharedSegment")) {
            owner.awaitOutput("waiting on node 4");
            try (var other = node(8, EXAMPLES + "sharedsegment.SharedSegment", "4")) {
                assertSucceeds(other);
                assertSucceeds(owner);
                assertThat(owner.output()).contains("found \"Saluton, mondo\"");
            }
        }
        awaitFiles();
    }

    @Test
    void shouldInterruptAnotherNode() throws Exception {
        try (var woken = node(4, EXAMPLES + "remoteinterrupt.TriggerInterrupt")) {
            woken.awaitOutput("waiting on node 4");
            try (var other =
                    node(8, EXAMPLES + "remoteinterrupt.TriggerInterrupt", "-n", "100", "4")) {
                assertSucceeds(other);
                assertSucceeds(woken);
                assertThat(woken.output())
                        .contains("received \"100 interrupts follow\"")
                        .contains("was interrupted 100 times");
            }
        }
        awaitFiles();
    }

    @Test
    void shouldReportAKilledNodeAndDeleteItsFiles() throws Exception {
        try (var owner = node(4, OWNER)) {
            owner.awaitOutput("offers a segment as node 4");
            try (var user = node(8, USER, "4");
                    var bystander = node(12, OWNER)) {
                bystander.awaitOutput("offers a segment as node 12");
                owner.awaitOutput("holds 1.");
                user.awaitOutput("stored 1.");

                owner.kill();

                assertSucceeds(user);
                assertThat(user.output()).contains("received LOST, and loads -1.");
                awaitFiles("12.member.0.0", "12.segment.7.0");

                owner.restart();
                owner.awaitOutput("offers a segment as node 4");
                try (var next = node(8, USER, "4")) {
                    next.awaitOutput("stored 1.");
                    owner.awaitOutput("holds 1.");
                }
            }
        }
    }

    @Test
    void shouldReportACutLinkAndStoreAgainAfterItIsRestored() throws Exception {
        try (var owner = node(4, OWNER)) {
            owner.awaitOutput("offers a segment as node 4");
            try (var user = node(8, USER, "4")) {
                owner.awaitOutput("holds 1.");

                owner.runBeside(LINK_SWITCH, "cut");
                user.awaitOutput("received NOT_OPERATIONAL, and loads -1.");
                owner.runBeside(LINK_SWITCH, "restore");

                owner.awaitOutput("holds 2.");
                user.awaitOutput("received OPERATIONAL, and loads 1.");
                assertThat(owner.output()).doesNotContain("holds -7.");
            }
        }
    }
}
