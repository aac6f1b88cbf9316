package org.jrdma.tck.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a ZooKeeper server and its clients, which use NIO channels. */
@Timeout(60)
@SuppressWarnings("try") // the close of a client may throw InterruptedException
class ZooKeeperTest {

    private static final int TICK = 2_000;

    @TempDir private Path folder;

    private ServerCnxnFactory connections;

    @BeforeEach
    void start() throws Exception {
        System.setProperty("zookeeper.admin.enableServer", "false");
        connections = new NIOServerCnxnFactory();
        connections.configure(TestAddress.ANY_PORT, 100, -1, false);
        connections.startup(new ZooKeeperServer(folder.toFile(), folder.toFile(), TICK));
    }

    @AfterEach
    void stop() {
        connections.shutdown();
    }

    @Test
    void shouldStoreDataAndNotifyOtherClients() throws Exception {
        try (var writer = connect();
                var reader = connect()) {
            writer.create(
                    "/greeting",
                    "saluton".getBytes(UTF_8),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT);
            var changed = new CountDownLatch(1);
            assertThat(reader.getData("/greeting", _ -> changed.countDown(), null))
                    .asString(UTF_8)
                    .isEqualTo("saluton");

            for (var i = 0; i < 200; i++) {
                writer.setData("/greeting", ("mondo " + i).repeat(50).getBytes(UTF_8), i);
            }

            assertThat(changed.await(10, TimeUnit.SECONDS)).isTrue();
            reader.sync("/greeting", (_, _, _) -> {}, null);
            assertThat(reader.getData("/greeting", false, null))
                    .asString(UTF_8)
                    .isEqualTo("mondo 199".repeat(50));
            TransportUsage.assertEach("ZooKeeper", connections.getLocalPort(), 100);
        }
    }

    @Test
    void shouldDeleteEphemeralNodesWhenTheClientCloses() throws Exception {
        try (var reader = connect()) {
            var removed = new CountDownLatch(1);
            try (var owner = connect()) {
                owner.create(
                        "/held", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
                assertThat(reader.exists("/held", _ -> removed.countDown())).isNotNull();
            }

            assertThat(removed.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(reader.exists("/held", false)).isNull();
        }
    }

    private ZooKeeper connect() throws IOException, InterruptedException {
        return connect(TestAddress.HOST + ":" + connections.getLocalPort(), 10 * TICK, 10);
    }

    /**
     * Creates a client, and waits until it is connected.
     *
     * @param servers the addresses of the servers, separated by commas
     * @param sessionMillis the timeout of the session in milliseconds
     * @param seconds the maximum time until the client is connected
     */
    static ZooKeeper connect(String servers, int sessionMillis, int seconds)
            throws IOException, InterruptedException {
        var connected = new CountDownLatch(1);
        var client =
                new ZooKeeper(
                        servers,
                        sessionMillis,
                        event -> {
                            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        assertThat(connected.await(seconds, TimeUnit.SECONDS)).isTrue();
        return client;
    }
}
