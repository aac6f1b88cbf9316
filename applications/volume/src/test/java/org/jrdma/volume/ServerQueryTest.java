package org.jrdma.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.DataPathState.Kind;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ServerQueryTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final NodeOptions NODE =
            NodeOptions.of(TransportKind.SOCKETS)
                    .socketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));

    private final FileDrive drive;
    private final VolumeServer coordinator;

    ServerQueryTest(@TempDir Path folder) throws Exception {
        drive = FileDrive.create(folder.resolve("drive"), 4096);
        VolumeServer.create(drive);
        coordinator = start("one", List.of());
        Conditions.await(() -> Optional.of(coordinator).filter(VolumeServer::isCoordinator));
    }

    private VolumeServer start(String name, List<List<String>> others) throws Exception {
        return VolumeServer.start(
                drive,
                ServerOptions.named(name)
                        .others(others)
                        .node(NODE)
                        .sessionTimeout(Duration.ofSeconds(2)));
    }

    @AfterEach
    void close() {
        coordinator.close();
        drive.close();
    }

    private ServerQuery query(VolumeServer server) throws Exception {
        return ServerQuery.open(server.addresses(), NODE, TIMEOUT);
    }

    private static ClientReport client(ServerQuery query, String name, Kind kind) throws Exception {
        return Conditions.await(() ->
                query.clients().stream()
                        .filter(each -> each.name().equals(name))
                        .filter(each -> each.data().kind() == kind)
                        .findAny());
    }

    @Test
    void shouldReturnTheStatesOfTheCoordinatorAndOfAStandby() throws Exception {
        try (var standby = start("two", List.of(coordinator.addresses()));
                var first = query(coordinator);
                var second = query(standby)) {
            var state = first.server();
            assertThat(state.name()).isEqualTo("one");
            assertThat(state.version()).matches("\\d+\\.\\d+\\.\\d+.*");
            assertThat(state.epoch()).isPositive();
            assertThat(state.addresses()).isEqualTo(coordinator.addresses());
            assertThat(state.drive()).isEqualTo(drive.toString());
            assertThat(state.driveBytes()).isEqualTo(4096 * 4096);
            assertThat(state.use())
                    .hasValueSatisfying(use -> {
                        assertThat(use.totalBytes()).isBetween(1L, 4096L * 4096);
                        assertThat(use.freeBytes()).isEqualTo(use.totalBytes());
                        assertThat(use.files()).isOne();
                    });

            assertThat(second.server().name()).isEqualTo("two");
            assertThat(second.server().isCoordinator()).isFalse();
            assertThat(second.server().use()).isEmpty();
            assertThatThrownBy(second::clients)
                    .isInstanceOf(VolumeException.class)
                    .hasMessageContaining("standby");
        }
    }

    @Test
    void shouldReturnTheStatesOfTheCoordinatorOverAStandby() throws Exception {
        try (var standby = start("two", List.of(coordinator.addresses()));
                var query = query(standby)) {
            assertThatThrownBy(query::clients).hasMessageContaining("standby");
            Conditions.await(() -> { // until the standby has connected to the coordinator
                try {
                    query.redirect();
                    return Optional.of(query);
                } catch (VolumeException _) {
                    return Optional.empty();
                }
            });

            assertThat(query.server().name()).isEqualTo("one");
            assertThat(query.server().isCoordinator()).isTrue();
            assertThat(client(query, "two", Kind.DIRECT).version()).isNotEmpty();
        }
    }

    @Test
    void shouldNotRedirectAQueryOfTheCoordinator() throws Exception {
        try (var query = query(coordinator)) {
            assertThatThrownBy(query::redirect).isInstanceOf(VolumeException.class);
            assertThat(query.server().name()).isEqualTo("one");
        }
    }

    @Test
    void shouldReturnThePathsOfClientsWithTheirReasons() throws Exception {
        var options = VolumeOptions.of("direct", List.of(coordinator.addresses())).node(NODE);
        var withoutDrive =
                VolumeOptions.of("redirected", List.of(coordinator.addresses()))
                        .node(NODE.transports(List.of(TransportKind.VERBS, TransportKind.SOCKETS)));
        try (var query = query(coordinator);
                var direct = Volume.open(options.drive(drive));
                var redirected = Volume.open(withoutDrive)) {
            Files.writeString(redirected.path("/file"), "content");
            assertThat(Files.readString(direct.path("/file"))).isEqualTo("content");

            assertThat(client(query, "direct", Kind.DIRECT))
                    .satisfies(state -> {
                        assertThat(state.coordinator().transport()).isEqualTo("sockets");
                        assertThat(state.coordinator().description())
                                .startsWith("sockets (tcp) to ");
                        assertThat(state.data().connection()).isEmpty();
                        assertThat(state.data().reason()).isEqualTo("the client has started");
                        assertThat(state).isEqualTo(direct.state());
                    });
            assertThat(client(query, "redirected", Kind.REDIRECTED))
                    .satisfies(state -> {
                        assertThat(state.data().connection())
                                .hasValueSatisfying(connection -> {
                                    assertThat(connection.transport()).isEqualTo("sockets");
                                    assertThat(coordinator.addresses())
                                            .containsAll(connection.server());
                                });
                        assertThat(state.data().reason()).isEqualTo("the client has no drive");
                        assertThat(state.data().switches()).isZero();
                    });
            assertThat(client(query, "one", Kind.DIRECT).version()).isNotEmpty();
        }
    }
}
