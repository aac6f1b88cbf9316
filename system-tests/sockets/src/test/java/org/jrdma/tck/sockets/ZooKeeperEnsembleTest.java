package org.jrdma.tck.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.quorum.QuorumPeer.ServerState;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.jrdma.processes.FreePorts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests three ZooKeeper servers, one of which the test stops. The clients use NIO channels. The
 * servers connect to each other with {@code java.net.Socket}, which does not use the selector
 * provider.
 */
@Timeout(120)
@SuppressWarnings("try") // the close of a client may throw InterruptedException
class ZooKeeperEnsembleTest {

    private static final int SERVERS = 3;
    private static final int TICK = 500;

    @TempDir private Path folder;

    private final List<Server> servers = new ArrayList<>();

    /** A server that runs on its own thread. */
    private static final class Server extends QuorumPeerMain {

        private final int clientPort;
        private final Thread thread;

        Server(QuorumPeerConfig configuration) {
            clientPort = configuration.getClientPortAddress().getPort();
            thread =
                    Thread.ofPlatform()
                            .daemon()
                            .start(() -> {
                                try {
                                    runFromConfig(configuration);
                                } catch (Exception e) {
                                    throw new IllegalStateException(e);
                                }
                            });
        }

        boolean isLeading() {
            return quorumPeer != null && quorumPeer.getPeerState() == ServerState.LEADING;
        }

        void stop() throws InterruptedException {
            if (quorumPeer != null) {
                quorumPeer.shutdown();
            }
            thread.join(10_000);
        }
    }

    @BeforeEach
    void start() throws Exception {
        System.setProperty("zookeeper.admin.enableServer", "false");
        System.setProperty("zookeeper.jmx.log4j.disable", "true");
        var ports = FreePorts.of(3 * SERVERS);
        for (var id = 1; id <= SERVERS; id++) {
            var data = Files.createDirectory(folder.resolve("server" + id));
            Files.writeString(data.resolve("myid"), Integer.toString(id));
            var properties = new Properties();
            properties.setProperty("tickTime", Integer.toString(TICK));
            properties.setProperty("initLimit", "20");
            properties.setProperty("syncLimit", "10");
            properties.setProperty("dataDir", data.toString());
            properties.setProperty("clientPortAddress", "127.0.0.1");
            properties.setProperty("clientPort", ports.get(3 * (id - 1)).toString());
            for (var other = 1; other <= SERVERS; other++) {
                properties.setProperty(
                        "server." + other,
                        "127.0.0.1:%d:%d"
                                .formatted(
                                        ports.get(3 * (other - 1) + 1),
                                        ports.get(3 * (other - 1) + 2)));
            }
            var configuration = new QuorumPeerConfig();
            configuration.parseProperties(properties);
            servers.add(new Server(configuration));
        }
    }

    @AfterEach
    void stop() throws Exception {
        for (var server : servers) {
            server.stop();
        }
    }

    @Test
    @Tag("slow")
    void shouldKeepItsDataWhenTheLeaderIsStopped() throws Exception {
        try (var client = connect()) {
            client.create(
                    "/greeting",
                    "saluton".getBytes(UTF_8),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT);
            for (var i = 0; i < 100; i++) {
                client.setData("/greeting", ("mondo " + i).repeat(50).getBytes(UTF_8), i);
            }
            TransportUsage.assertEachToAnyOf("ZooKeeper, three servers", clientPorts(), 1000);

            servers.stream().filter(Server::isLeading).findFirst().orElseThrow().stop();

            var text = read(client);
            assertThat(text).isEqualTo("mondo 99".repeat(50));
        }
        try (var another = connect()) {
            another.setData("/greeting", "adiau".getBytes(UTF_8), 100);
            assertThat(read(another)).isEqualTo("adiau");
            TransportUsage.assertEachToAnyOf("ZooKeeper, three servers", clientPorts(), 10);
        }
    }

    private List<Integer> clientPorts() {
        return servers.stream().map(server -> server.clientPort).toList();
    }

    /** Reads the node; retries while the servers elect a leader. */
    private static String read(ZooKeeper client) throws Exception {
        while (true) {
            try {
                return new String(client.getData("/greeting", false, null), UTF_8);
            } catch (KeeperException.ConnectionLossException _) {
                Thread.sleep(100);
            }
        }
    }

    private ZooKeeper connect() throws IOException, InterruptedException {
        return ZooKeeperTest.connect(
                servers.stream()
                        .map(server -> "127.0.0.1:" + server.clientPort)
                        .collect(Collectors.joining(",")),
                40 * TICK,
                60);
    }
}
