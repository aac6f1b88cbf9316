package org.jrdma.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;

/**
 * Tests hosts that resolve each other's names, and transfer data by RDMA over a private network.
 */
class SoftwareFabricHostsTest {

    private static final String RPING = "org.jrdma.interop/org.jrdma.interop.rping.Rping";
    private static final String SIMPLE_RDMA_WRITE =
            "org.jrdma.examples/org.jrdma.examples.simplerdmawrite.SimpleRdmaWrite";
    private static final String WRITE_NOTIFY =
            "org.jrdma.examples/org.jrdma.examples.writenotify.WriteNotify";

    private Network network;

    @BeforeEach
    void createNetwork() {
        network = Network.newNetwork();
    }

    @AfterEach
    void removeNetwork() {
        network.close();
    }

    @Test
    void shouldWriteIntoTheMemoryOfAnotherHost() throws Exception {
        try (var writer = host("writer", SIMPLE_RDMA_WRITE)) {
            writer.awaitOutput("waiting for the other side");
            try (var watcher = host("watcher", SIMPLE_RDMA_WRITE, "writer")) {
                assertThat(watcher.await()).as(watcher.output()).isZero();
                assertThat(writer.await()).as(writer.output()).isZero();
                assertThat(watcher.output()).contains("found \"Saluton, mondo\"");
            }
        }
    }

    @Test
    void shouldConnectToAHostByItsName() throws Exception {
        try (var server = rpingServer();
                var client = host("client", RPING, "-c", "-a", "storage", "-V", "-C", "100")) {
            assertThat(client.await()).as(client.output()).isZero();
            assertThat(server.await()).as(server.output()).isZero();
        }
    }

    @Test
    void shouldServeSeveralHostsConcurrently() throws Exception {
        try (var server = host("storage", WRITE_NOTIFY, "-n", "3")) {
            server.awaitOutput("waiting at");
            try (var first = writer("first");
                    var second = writer("second");
                    var third = writer("third")) {
                assertThat(first.await()).as(first.output()).isZero();
                assertThat(second.await()).as(second.output()).isZero();
                assertThat(third.await()).as(third.output()).isZero();
            }
            assertThat(server.await()).as(server.output()).isZero();
            assertThat(server.output())
                    .contains("client 1 has left", "client 2 has left", "client 3 has left");
        }
    }

    private ProgramContainer writer(String name) {
        return host(name, WRITE_NOTIFY, "-n", "20", "storage");
    }

    @Test
    void shouldReportAKilledHostAndConnectAfterItsRestart() throws Exception {
        try (var server = rpingServer();
                var client = host("client", RPING, "-c", "-a", "storage", "-v")) {
            client.awaitOutput("rdma-ping-20:");
            server.kill();
            assertThat(client.await()).isOne();
            // A client that is waiting for a response when the server dies fails with its own
            // timeout.
            assertThat(client.output()).containsAnyOf("RETRIES_EXCEEDED", "within 30s");

            server.restart();
            server.awaitOutput("waiting at");
            try (var next = host("next", RPING, "-c", "-a", "storage", "-V", "-C", "5")) {
                assertThat(next.await()).as(next.output()).isZero();
            }
        }
    }

    @Test
    void shouldLoseNothingDuringAShortLinkFailure() throws Exception {
        try (var server = rpingServer();
                var client = host("client", RPING, "-c", "-a", "storage", "-v", "-V")) {
            client.awaitOutput("rdma-ping-20:");
            server.cutLink();
            Thread.sleep(Duration.ofMillis(300));
            server.restoreLink();
            var pings = client.output().lines().filter(line -> line.contains("ping data")).count();
            client.awaitOutput("rdma-ping-%d:".formatted(pings + 100));
        }
    }

    @Test
    void shouldReportALinkFailureToBothSidesAndConnectAgainAfterItIsRestored() throws Exception {
        try (var server = rpingServer();
                var client = host("client", RPING, "-c", "-a", "storage", "-v")) {
            client.awaitOutput("rdma-ping-20:");
            server.cutLink();
            assertThat(client.await()).isOne();
            assertThat(server.await()).as(server.output()).isNotZero();

            server.restart();
            server.awaitOutput("waiting at");
            try (var next = host("next", RPING, "-c", "-a", "storage", "-V", "-C", "5")) {
                assertThat(next.await()).as(next.output()).isZero();
            }
        }
    }

    private ProgramContainer rpingServer() throws InterruptedException {
        var server = host("storage", RPING, "-s");
        server.awaitOutput("waiting at");
        return server;
    }

    private ProgramContainer host(String name, String program, String... arguments) {
        return ProgramContainer.running(network, name, program, arguments);
    }
}
