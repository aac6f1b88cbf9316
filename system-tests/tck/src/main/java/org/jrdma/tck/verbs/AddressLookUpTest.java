package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the lookup of addresses by host and service, and connections of each type to the results.
 */
class AddressLookUpTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final Fabric fabric = Fabric.underTest();
    private ConnectionManager connections;
    private Device device;
    private ProtectionDomain domain;
    private CompletionDispatcher completions;
    private InetAddress address;

    @BeforeEach
    void open() throws IOException {
        connections = fabric.connections();
        device = fabric.open();
        domain = device.newProtectionDomain();
        completions = device.newCompletionDispatcher(64);
        address = Fabric.address(device);
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    private AddressInfo lookUp(AddressQuery query) throws IOException {
        return connections.lookUp(query, TIMEOUT).getFirst();
    }

    /** Looks up the address of a listener, with the type and port space of a query. */
    private AddressInfo to(Listener listener, AddressQuery kind) throws IOException {
        var local = listener.localAddress();
        return lookUp(
                AddressQuery.to(local.getAddress().getHostAddress(), "" + local.getPort())
                        .type(kind.type())
                        .portSpace(kind.portSpace()));
    }

    private ConnectionOptions<AsyncQueuePair> options(QueuePairType type) {
        var queuePair =
                type == QueuePairType.RELIABLE_CONNECTION
                        ? QueuePairOptions.reliable(completions)
                        : QueuePairOptions.unreliable(completions);
        return ConnectionOptions.of(queuePair.sends(4).receives(4));
    }

    @Test
    void shouldResolveAddressesToConnectToAndToListenAt() throws Exception {
        var host = address.getHostAddress();

        assertThat(lookUp(AddressQuery.to(host, "7471").numericHost()))
                .isEqualTo(
                        new AddressInfo(
                                QueuePairType.RELIABLE_CONNECTION,
                                PortSpace.TCP,
                                Optional.empty(),
                                Optional.of(new InetSocketAddress(address, 7471))));
        assertThat(lookUp(AddressQuery.at(host, "7471").type(QueuePairType.UNRELIABLE_DATAGRAM)))
                .isEqualTo(
                        new AddressInfo(
                                QueuePairType.UNRELIABLE_DATAGRAM,
                                PortSpace.UDP,
                                Optional.of(new InetSocketAddress(address, 7471)),
                                Optional.empty()));
        assertThat(
                        lookUp(AddressQuery.at("7471"))
                                .local()
                                .orElseThrow()
                                .getAddress()
                                .isAnyLocalAddress())
                .isTrue();
        assertThat(lookUp(AddressQuery.to("localhost", "7471")).peer().orElseThrow().getAddress())
                .matches(InetAddress::isLoopbackAddress);
    }

    @Test
    void shouldReportThatAHostOrServiceDoesNotExist() {
        assertThatThrownBy(() -> lookUp(AddressQuery.to("no such host", "7471").numericHost()))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("rdma_getaddrinfo failed for service 7471 of no such host")
                .hasMessageContaining("The host or service is unknown");
        assertThatThrownBy(() -> lookUp(AddressQuery.at("no-such-service")))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("no-such-service of this machine")
                .hasMessageContaining("The service is neither a port number nor");
        assertThatThrownBy(() -> AddressQuery.at("1").type(QueuePairType.RAW_PACKET))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldResolveAddressInfoAsynchronously() throws Exception {
        fabric.needs(Feature.USER_DEFINED_EVENTS);
        var host = address.getHostAddress();
        try (var channel = connections.newEventChannel()) {
            var identifier = channel.newIdentifier(PortSpace.TCP);
            assertThatThrownBy(identifier::addressInfo)
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ENOENT");
            identifier.resolveAddressInfo(AddressQuery.to("no such host", "7471").numericHost());
            assertThat(channel.next(TIMEOUT))
                    .isInstanceOfSatisfying(
                            ConnectionEvent.AddressInfoError.class,
                            error ->
                                    assertThat(error.reason())
                                            .contains("the host or service is unknown"));

            identifier.resolveAddressInfo(AddressQuery.to(host, "7471").numericHost());
            assertThat(channel.next(TIMEOUT))
                    .isEqualTo(new ConnectionEvent.AddressInfoResolved(identifier));
            identifier.resolveAddressInfo(AddressQuery.to(host, "7472").numericHost());
            assertThat(channel.next(TIMEOUT))
                    .isEqualTo(new ConnectionEvent.AddressInfoError(identifier, Errno.EBUSY));
            assertThat(identifier.addressInfo())
                    .containsExactly(
                            new AddressInfo(
                                    QueuePairType.RELIABLE_CONNECTION,
                                    PortSpace.TCP,
                                    Optional.empty(),
                                    Optional.of(new InetSocketAddress(address, 7471))));
            assertThatThrownBy(identifier::addressInfo)
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ENOENT");
            identifier.resolveAddressInfo(AddressQuery.to("localhost", "7472"));
            assertThat(channel.next(TIMEOUT))
                    .isEqualTo(
                            // The channel is closed although addressInfo() has not returned this
                            // result.
                            new ConnectionEvent.AddressInfoResolved(identifier));
        }
    }

    @Test
    void shouldConnectReliablyInThePortSpaceOfInfiniBand() throws Exception {
        connectAndSend(
                AddressQuery.at(address.getHostAddress(), "0")
                        .portSpace(isIwarp() ? PortSpace.TCP : PortSpace.IB));
    }

    @Test
    void shouldConnectUnreliably() throws Exception {
        fabric.needs(Feature.UNRELIABLE_CONNECTIONS);
        connectAndSend(
                AddressQuery.at(address.getHostAddress(), "0")
                        .type(QueuePairType.UNRELIABLE_CONNECTION));
    }

    /** The kernel rejects an acknowledge timeout for unreliable connections on every device. */
    @Test
    void shouldRejectAnAcknowledgeTimeoutForUnreliableConnections() throws Exception {
        fabric.needs(Feature.UNRELIABLE_CONNECTIONS);
        var at =
                AddressQuery.at(address.getHostAddress(), "0")
                        .type(QueuePairType.UNRELIABLE_CONNECTION);
        try (var listener = connections.listen(lookUp(at), 4);
                var route = connections.resolve(to(listener, at), TIMEOUT);
                var channel = connections.newEventChannel()) {
            assertThatThrownBy(() ->
                            route.connect(
                                    domain,
                                    options(QueuePairType.UNRELIABLE_CONNECTION)
                                            .acknowledgeTimeout(Duration.ofMillis(67)),
                                    TIMEOUT))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Cannot set an acknowledge timeout");
            var identifier = channel.newIdentifier(to(listener, at));
            assertThatThrownBy(() -> identifier.acknowledgeTimeout(Duration.ofMillis(67)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("EINVAL");
        }
    }

    private boolean isIwarp() {
        return fabric.profile() == Profile.SIW;
    }

    @Test
    void shouldRejectAQueuePairOfAnotherTypeAndAnAddressOfTheOtherSide() throws Exception {
        var at = AddressQuery.at(address.getHostAddress(), "0");
        try (var listener = connections.listen(lookUp(at), 4);
                var route = connections.resolve(to(listener, at), TIMEOUT)) {
            if (fabric.profile().has(Feature.UNRELIABLE_CONNECTIONS)) {
                assertThatThrownBy(() ->
                                route.connect(
                                        domain,
                                        options(QueuePairType.UNRELIABLE_CONNECTION),
                                        TIMEOUT))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("requires a queue pair of type RELIABLE_CONNECTION");
            }
            assertThatThrownBy(() -> connections.listen(to(listener, at), 4))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("it is an address to connect to");
            assertThatThrownBy(() -> connections.resolve(lookUp(at), TIMEOUT))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("it is an address to listen at");
            var taken =
                    AddressQuery.at(
                            address.getHostAddress(), "" + listener.localAddress().getPort());
            assertThatThrownBy(() -> connections.listen(lookUp(taken), 4))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("rdma_create_ep")
                    .hasMessageContaining("EADDRINUSE");
        }
    }

    /**
     * A connect request is rejected if the only listener at the address is for another type of
     * connection.
     */
    @Test
    void shouldRefuseAPeerOfAnotherType() throws Exception {
        fabric.needs(Feature.UNRELIABLE_CONNECTIONS);
        var at =
                AddressQuery.at(address.getHostAddress(), "0")
                        .type(QueuePairType.UNRELIABLE_CONNECTION);
        var reliable = at.type(QueuePairType.RELIABLE_CONNECTION).portSpace(PortSpace.IB);
        try (var listener = connections.listen(lookUp(at), 4);
                var route = connections.resolve(to(listener, reliable), TIMEOUT)) {
            assertThatThrownBy(() ->
                            route.connect(
                                    domain, options(QueuePairType.RELIABLE_CONNECTION), TIMEOUT))
                    .isInstanceOf(CmException.class)
                    .hasMessageContaining("the peer rejected the request");
        }
    }

    private void connectAndSend(AddressQuery at) throws Exception {
        var received = new AtomicReference<Transfer>();
        var memory = domain.newArena(Pair.ALL).region(256);
        try (var listener = connections.listen(lookUp(at), 4);
                var route = connections.resolve(to(listener, at), TIMEOUT)) {
            var connecting = new CompletableFuture<Connection<AsyncQueuePair>>();
            Thread.ofVirtual()
                    .start(() -> {
                        try {
                            connecting.complete(route.connect(domain, options(at.type()), TIMEOUT));
                        } catch (IOException | RuntimeException e) {
                            connecting.completeExceptionally(e);
                        }
                    });
            try (var request = listener.next(TIMEOUT);
                    var there =
                            request.accept(
                                    domain,
                                    options(at.type())
                                            .prepared(queuePair ->
                                                    received.set(
                                                            queuePair.receive(
                                                                    memory.slice(0, 64)))),
                                    TIMEOUT);
                    var here = connecting.get(20, TimeUnit.SECONDS)) {
                assertThat(here.queuePair().type()).isEqualTo(at.type());
                memory.segment().setString(128, "Saluton");
                here.queuePair().send(memory.slice(128, 8)).await(TIMEOUT);
                assertThat(received.get().await(TIMEOUT).bytes()).isEqualTo(8);
                assertThat(memory.segment().getString(0)).isEqualTo("Saluton");
                here.disconnect(TIMEOUT);
                there.awaitDisconnected(TIMEOUT);
            }
        }
    }
}
