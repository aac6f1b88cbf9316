package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.Conditions;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.ServerQuery;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.model.RequestRedirection;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.SoftwareFabrics;
import org.jrdma.volume.net.TransportKind;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.FolderEntry;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests clients that reach a standby, but neither the coordinator nor the drive. */
@Timeout(120)
class FileRedirectionTest {

    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final Duration SESSION_TIMEOUT = Duration.ofSeconds(4);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration RETRY_TIMEOUT = Duration.ofSeconds(60);
    private static final FilePath FILE = FilePath.of("/file");
    private static final FilePath FOLDER = FilePath.of("/folder");
    private static final FilePath MOVED = FilePath.of("/folder/moved");

    private final MemoryDrive drive = new MemoryDrive(8192);

    /** The clients and servers, in the order in which they are closed. */
    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    private NodeOptions node = options(TransportKind.SOCKETS);

    FileRedirectionTest() throws FabricException {
        SoftwareFabrics.select();
        VolumeServer.create(drive);
    }

    private static NodeOptions options(TransportKind transport) {
        return NodeOptions.of(transport)
                .socketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @AfterEach
    void stop() throws Exception {
        for (var each : open) {
            each.close();
        }
        assertThat(VolumeServer.check(drive)).isEmpty();
    }

    private VolumeServer start(String name, Drive path, VolumeServer... others) throws Exception {
        var server =
                VolumeServer.start(
                        path,
                        ServerOptions.named(name)
                                .others(addresses(others))
                                .node(node)
                                .lease(LEASE)
                                .sessionTimeout(SESSION_TIMEOUT));
        open.addFirst(server);
        return server;
    }

    private VolumeServer startCoordinator() throws Exception {
        var server = start("coordinator", drive);
        Conditions.await(() -> Optional.of(server).filter(VolumeServer::isCoordinator));
        return server;
    }

    /** Starts a server that never takes over. */
    private VolumeServer startStandby(String name, VolumeServer... others) throws Exception {
        return start(name, new ReservedDrive(drive), others);
    }

    private static List<List<String>> addresses(VolumeServer... servers) {
        return List.of(servers).stream().map(VolumeServer::addresses).toList();
    }

    private VolumeClient connect(
            String name, Optional<Drive> path, ServerConnector network, VolumeServer... servers)
            throws FabricException {
        var client =
                new VolumeClient(
                        new ClientOptions(
                                name,
                                addresses(servers),
                                List.of(),
                                true,
                                CALL_TIMEOUT,
                                RETRY_TIMEOUT),
                        network,
                        path);
        open.addFirst(client);
        return client;
    }

    /** Connects a client without a path to the drive. */
    private VolumeClient connectFar(PartialNetwork network, VolumeServer... servers)
            throws FabricException {
        return connect("far", Optional.empty(), network, servers);
    }

    /** Connects a client that reaches the drive and all servers. */
    private VolumeClient connectNear(VolumeServer... servers) throws FabricException {
        return connect("near", Optional.of(drive), new NodeConnector(node), servers);
    }

    private static String server(VolumeClient client) {
        return client.state().redirection().map(RequestRedirection::server).orElse("none");
    }

    private static MemorySegment bytes(String text) {
        return MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String read(FileHandle file) throws FabricException {
        var bytes = new byte[100];
        var count = file.read(0, MemorySegment.ofArray(bytes));
        return new String(bytes, 0, count, StandardCharsets.UTF_8);
    }

    private static List<String> names(VolumeClient client, FilePath path) throws FabricException {
        return client.list(path, "").stream().map(FolderEntry::name).toList();
    }

    @ParameterizedTest
    @EnumSource
    void shouldExecuteAllOperationsOverAStandby(TransportKind transport) throws Exception {
        node = options(transport);
        var coordinator = startCoordinator();
        var standby = startStandby("standby", coordinator);
        var near = connectNear(coordinator);
        var far = connectFar(new PartialNetwork(node).cut(coordinator.addresses()), standby);

        far.createFolder(FOLDER, 0755);
        try (var file = far.open(FILE, Creation.NEW, 0644);
                var same = near.open(FILE, Creation.EXISTING, 0)) {
            file.write(0, bytes("from far"));
            assertThat(read(same)).isEqualTo("from far");
            same.write(0, bytes("from near"));
            assertThat(read(file)).isEqualTo("from near");
            file.force();
            assertThat(file.lock(0, 10, false, false)).isTrue();
            assertThat(same.lock(5, 6, false, false)).isFalse();
            file.unlock(0, 10, false);
            assertThat(same.lock(5, 6, false, false)).isTrue();
            assertThat(file.lock(0, 10, false, false)).isFalse();
            file.truncate(4);
        }
        far.setAttributes(FILE, OptionalInt.of(0600), OptionalLong.empty());
        far.rename(FILE, MOVED, false);
        assertThat(near.attributes(MOVED).mode()).isEqualTo(0600);
        assertThat(far.attributes(MOVED).size()).isEqualTo(4);
        assertThat(names(far, FOLDER)).containsExactly("moved");
        assertThat(far.capacity()).isEqualTo(near.capacity());
        far.remove(MOVED);
        assertThat(names(near, FOLDER)).isEmpty();

        assertThat(far.state().redirection())
                .contains(new RequestRedirection("standby", "cut on purpose"));
        assertThat(far.state().coordinator().server()).isEqualTo(standby.addresses());
        assertThat(far.state().coordinator().transport()).isEqualTo(transport.toString());
        assertThat(far.state().data().kind()).isEqualTo(DataPathState.Kind.REDIRECTED);
        assertThat(far.state().data().connection().map(ConnectionDescription::server))
                .contains(standby.addresses());
        assertThat(far.describe()).contains("redirected to standby").contains("cut on purpose");
        assertThat(near.state().redirection()).isEmpty();
    }

    @Test
    void shouldReportTheRedirectionToTheCoordinator() throws Exception {
        var coordinator = startCoordinator();
        var standby = startStandby("standby", coordinator);
        var far = connectFar(new PartialNetwork(node).cut(coordinator.addresses()), standby);
        try (var query = ServerQuery.open(coordinator.addresses(), node, CALL_TIMEOUT)) {
            var reported =
                    Conditions.await(() ->
                            query.clients().stream()
                                    .filter(client -> client.name().equals("far"))
                                    .findAny());
            assertThat(reported.redirection()).isEqualTo(far.state().redirection()).isPresent();
        }
    }

    @Test
    void shouldContinueOverAStandbyWhenTheCoordinatorIsReplaced() throws Exception {
        var coordinator = startCoordinator();
        var successor = start("successor", drive, coordinator);
        var standby = startStandby("standby", coordinator, successor);
        var near = connectNear(coordinator, successor);
        var network = new PartialNetwork(node).cut(coordinator.addresses());
        var far = connectFar(network.cut(successor.addresses()), standby);
        try (var file = far.open(FILE, Creation.NEW, 0644);
                var same = near.open(FILE, Creation.EXISTING, 0)) {
            file.write(0, bytes("first"));
            assertThat(file.lock(0, 1, false, false)).isTrue();

            coordinator.close();
            file.write(5, bytes(", second"));
            far.createFolder(FOLDER, 0755);

            assertThat(successor.isCoordinator()).isTrue();
            assertThat(server(far)).isEqualTo("standby");
            assertThat(read(same)).isEqualTo("first, second");
            assertThat(same.lock(0, 1, false, false)).isFalse();
        }
    }

    @Test
    void shouldContinueOverAnotherStandbyAndThenDirectly() throws Exception {
        var coordinator = startCoordinator();
        var first = startStandby("first", coordinator);
        var second = startStandby("second", coordinator);
        var network = new PartialNetwork(node).cut(coordinator.addresses());
        var far = connectFar(network.cut(second.addresses()), coordinator, first, second);
        try (var file = far.open(FILE, Creation.NEW, 0644)) {
            file.write(0, bytes("over the first"));
            assertThat(file.lock(0, 1, false, false)).isTrue();
            assertThat(server(far)).isEqualTo("first");

            network.restore(second.addresses());
            first.close();
            file.write(0, bytes("over the second"));
            file.force();
            assertThat(server(far)).isEqualTo("second");

            network.restore(coordinator.addresses());
            var direct = coordinator.addresses();
            var state =
                    Conditions.await(() ->
                            Optional.of(far.state())
                                    .filter(now -> now.coordinator().server().equals(direct)));
            assertThat(state.redirection()).isEmpty();
            second.close();
            assertThat(file.holds(0, 1, false)).isTrue();
            assertThat(read(file)).isEqualTo("over the second");
            file.write(0, bytes("over the coordinator"));
        }
    }

    @Test
    void shouldNotRedirectTheRequestsOfServers() throws Exception {
        var coordinator = startCoordinator();
        var standby = startStandby("standby", coordinator);
        var network = new PartialNetwork(node).cut(coordinator.addresses());
        var _ = connectFar(network, standby); // the standby forwards requests
        var options =
                new ClientOptions(
                        "server",
                        addresses(standby),
                        List.of("sockets:server:1"),
                        false,
                        CALL_TIMEOUT,
                        Duration.ofSeconds(1));
        assertThatThrownBy(() -> new VolumeClient(options, network, Optional.of(drive)))
                .isInstanceOf(FabricException.class)
                .hasMessageContaining("This server is a standby");
    }

    @Test
    void shouldRejectARedirectionWithoutACoordinator() throws Exception {
        var coordinator = startCoordinator();
        var standby = startStandby("standby", coordinator);
        var _ = connectFar(new PartialNetwork(node).cut(coordinator.addresses()), standby);
        open.removeFirst().close();
        coordinator.close();
        var rejection =
                Conditions.await(() -> { // the standby notices that the coordinator is gone
                    try (var connection =
                            new NodeConnector(node)
                                    .connect(
                                            standby.addresses(),
                                            request -> request,
                                            CALL_TIMEOUT)) {
                        var reply =
                                connection.call(
                                        RequestHeader.of(Operation.REDIRECT, 0).message(),
                                        CALL_TIMEOUT);
                        var _ = ReplyEncoding.decode(reply);
                        return Optional.empty();
                    } catch (VolumeException e) {
                        return Optional.of(e.getMessage());
                    }
                });
        assertThat(rejection).isEqualTo("No coordinator renews its lease");
    }
}
