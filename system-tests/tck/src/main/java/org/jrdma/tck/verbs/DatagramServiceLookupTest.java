package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.ConnectionEvent;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.DatagramListener;
import org.jrdma.verbs.cm.ListenerClosedException;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.cm.model.DatagramService;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the lookup of a datagram service. The client calls {@code findDatagramService}, and the
 * service answers with a {@code DatagramListener}.
 */
class DatagramServiceLookupTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final Fabric fabric = Fabric.underTest();
    private ConnectionManager connections;
    private Device device;
    private DatagramListener listener;

    @BeforeEach
    void open() throws IOException {
        fabric.needs(Feature.DATAGRAMS);
        connections = fabric.connections();
        device = fabric.open();
        listener = connections.listenForDatagrams(new InetSocketAddress(Fabric.address(device), 0));
    }

    @AfterEach
    void close() {
        if (device != null) {
            listener.close();
            device.close();
        }
    }

    private CompletableFuture<DatagramService> findService() {
        return start(() ->
                connections.findDatagramService(listener.localAddress(), TIMEOUT, bytes("where?")));
    }

    private static <T> CompletableFuture<T> start(Callable<T> call) {
        var future = new CompletableFuture<T>();
        Thread.ofVirtual()
                .start(() -> {
                    try {
                        future.complete(call.call());
                    } catch (Exception e) {
                        future.completeExceptionally(e);
                    }
                });
        return future;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void shouldSendToTheAddressOfTheService() throws Exception {
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionDispatcher(1024);
        var memory = domain.newArena(Pair.ALL).region(512);
        var called = domain.newDatagramQueuePair(completions);
        called.activate(DatagramParameters.QUEUE_KEY);
        var received = called.receive(memory.slice(256, 256));
        var lookup = findService();

        try (var request = listener.next(TIMEOUT)) {
            assertThat(request.deviceName()).isEqualTo(device.name());
            assertThat(request.peerAddress().getAddress())
                    .isEqualTo(listener.localAddress().getAddress());
            assertThat(new String(request.privateData().bytes(), StandardCharsets.UTF_8))
                    .startsWith("where?");
            request.accept(called, bytes("here"));
        }

        var service = lookup.get(20, TimeUnit.SECONDS);
        assertThat(service.deviceName()).isEqualTo(device.name());
        assertThat(new String(service.privateData().bytes(), StandardCharsets.UTF_8))
                .startsWith("here");
        var destination = service.parameters();
        assertThat(destination.queueKey()).isEqualTo(DatagramParameters.QUEUE_KEY);
        var calling = domain.newDatagramQueuePair(completions);
        calling.activate(DatagramParameters.QUEUE_KEY);
        memory.segment().setString(0, "Saluton");
        try (var handle = domain.newAddressHandle(destination.address())) {
            calling.send(
                            memory.slice(0, 8),
                            new Destination(
                                    handle, destination.queuePairNumber(), destination.queueKey()))
                    .await(TIMEOUT);
            received.await(TIMEOUT);
        }
        assertThat(memory.segment().getString(256 + GlobalRouteHeader.BYTES)).isEqualTo("Saluton");
    }

    @Test
    void shouldReportARejectionAndAMissingService() throws Exception {
        var lookup = findService();
        listener.next(TIMEOUT).reject(bytes("not today"));

        assertThat(lookup)
                .failsWithin(TIMEOUT)
                .withThrowableThat()
                .withCauseInstanceOf(CmException.class)
                .withMessageContaining("No answer from the service at")
                .withMessageContaining("its program rejected the request");
        assertThat(lookup.handle((_, e) -> (CmException) e).join().event())
                .hasValueSatisfying(event ->
                        assertThat(
                                        new String(
                                                ((ConnectionEvent.Unreachable) event)
                                                        .privateData()
                                                        .bytes(),
                                                StandardCharsets.UTF_8))
                                .startsWith("not today"));
        listener.close();
        assertThat(findService())
                .failsWithin(TIMEOUT)
                .withThrowableThat()
                .withCauseInstanceOf(CmException.class)
                .withMessageContaining("the peer rejected the request");
    }

    @Test
    void shouldTimeOutOnASilentServiceAndRejectClientsWhenItIsClosed() {
        assertThatThrownBy(() ->
                        connections.findDatagramService(
                                listener.localAddress(), Duration.ofMillis(200)))
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessageContaining("No answer from the service at");
        assertThatThrownBy(() ->
                        connections.findDatagramService(
                                listener.localAddress(), TIMEOUT, new byte[181]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the maximum is 180");
        var lookup = findService();

        listener.close();

        assertThat(lookup)
                .failsWithin(TIMEOUT)
                .withThrowableThat()
                .withCauseInstanceOf(CmException.class);
        assertThatThrownBy(() -> listener.next(TIMEOUT))
                .isInstanceOf(ListenerClosedException.class)
                .hasMessageContaining("closed");
    }
}
