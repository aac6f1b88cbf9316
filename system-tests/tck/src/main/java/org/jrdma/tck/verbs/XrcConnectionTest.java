package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.tck.verbs.Side.times;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.XrcDomain;
import org.jrdma.verbs.XrcReceiveQueuePair;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests extended reliable connections (XRC) that the connection manager establishes. The connecting
 * side sends, and the accepting side receives.
 */
class XrcConnectionTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final Fabric fabric = Fabric.underTest();
    private ConnectionManager connections;
    private Device device;
    private XrcDomain xrcDomain;
    private ProtectionDomain domain;
    private CompletionQueue sent;
    private CompletionCursor sentCursor;
    private MemoryRegion outgoing;
    private Listener listener;

    @BeforeEach
    void open() throws IOException {
        fabric.needs(Feature.XRC);
        connections = fabric.connections();
        device = fabric.open();
        xrcDomain = device.newXrcDomain();
        domain = device.newProtectionDomain();
        sent = device.newCompletionQueue(16);
        sentCursor = sent.newCursor(4);
        outgoing = domain.newArena(Pair.ALL).region(256);
        listener = connections.listen(lookUp(at(QueuePairType.XRC_RECEIVE)), 4);
    }

    @AfterEach
    void close() {
        if (listener != null) {
            listener.close();
        }
        if (device != null) {
            device.close();
        }
    }

    private AddressQuery at(QueuePairType type) throws IOException {
        return AddressQuery.at(Fabric.address(device).getHostAddress(), "0")
                .type(type)
                .portSpace(PortSpace.IB);
    }

    private AddressInfo lookUp(AddressQuery query) throws IOException {
        return connections.lookUp(query, TIMEOUT).getFirst();
    }

    private AddressInfo to(Listener peer, QueuePairType type) throws IOException {
        var there = peer.localAddress();
        return lookUp(
                AddressQuery.to(there.getAddress().getHostAddress(), "" + there.getPort())
                        .type(type)
                        .portSpace(PortSpace.IB));
    }

    private ConnectionOptions<PolledQueuePair> sendOptions() {
        return ConnectionOptions.of(QueuePairOptions.xrcSend(sent).sends(4));
    }

    private CompletableFuture<Connection<XrcReceiveQueuePair>> startAccepting(int receiveQueue) {
        var number = ByteBuffer.allocate(Integer.BYTES).putInt(receiveQueue).array();
        return BackgroundCalls.call(
                Thread.ofVirtual(),
                () ->
                        listener.accept(
                                domain,
                                ConnectionOptions.xrcReceive(xrcDomain).privateData(number),
                                TIMEOUT));
    }

    @Test
    void shouldSendToTheReceiveQueueNumberInTheReply() throws Exception {
        var inbox = XrcHub.Inbox.in(device, xrcDomain, options -> options);
        inbox.receive(3);
        var accepting = startAccepting(inbox.number());
        try (var route = connections.resolve(to(listener, QueuePairType.XRC_SEND), TIMEOUT);
                var here = route.connect(domain, sendOptions(), TIMEOUT);
                var there = accepting.get(60, TimeUnit.SECONDS)) {
            assertThat(here.peerParameters().queuePairNumber())
                    .isEqualTo(there.queuePair().number());
            assertThat(there.peerParameters().queuePairNumber())
                    .isEqualTo(here.queuePair().number());
            assertThat(there.queuePair().query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
            var receiveQueue = ByteBuffer.wrap(here.privateData().bytes()).getInt();
            assertThat(receiveQueue).isEqualTo(inbox.number());
            outgoing.segment().fill((byte) 7);

            assertThat(
                            here.queuePair()
                                    .prepareSend(outgoing.slice(0, 100))
                                    .receiveQueue(receiveQueue)
                                    .tryPost())
                    .isTrue();

            assertThat(Side.take(sentCursor, 1).getFirst().completion().status())
                    .isEqualTo(CompletionStatus.SUCCESS);
            var message = inbox.arrived(1).getFirst();
            assertThat(message.completion().queuePairNumber())
                    .isEqualTo(there.queuePair().number());
            assertThat(inbox.bytes(3, 100)).isEqualTo(times(100, 7));
            read(here, inbox);
            here.disconnect(TIMEOUT);
            there.awaitDisconnected(TIMEOUT);
        }
    }

    /** Reads memory of the inbox. This needs a connection that allows at least one pending read. */
    private void read(Connection<PolledQueuePair> here, XrcHub.Inbox inbox) throws Exception {
        var attributes = here.queuePair().query();
        assertThat(attributes.maxReads()).isPositive();
        inbox.place(5, 8).segment().set(ValueLayout.JAVA_LONG, 0, 42);
        var result = outgoing.slice(128, 8);
        assertThat(
                        here.queuePair()
                                .prepareRead(result, inbox.place(5, 8).remote())
                                .receiveQueue(inbox.number())
                                .tryPost())
                .isTrue();
        assertThat(Side.take(sentCursor, 1).getFirst().completion().status())
                .isEqualTo(CompletionStatus.SUCCESS);
        assertThat(result.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
    }

    @Test
    void shouldProvideTheAttributesOfTheInitTransition() throws Exception {
        try (var channel = connections.newEventChannel()) {
            var identifier = channel.newIdentifier(to(listener, QueuePairType.XRC_SEND));

            assertThat(identifier.queuePairType()).isEqualTo(QueuePairType.XRC_SEND);
            identifier.resolveAddress(listener.localAddress(), TIMEOUT);
            assertThat(identifier.queuePairChange(QueuePairState.INIT).attributes())
                    .contains(QueuePairAttribute.PORT);
        }
    }

    /**
     * Neither a listener for XRC senders nor a listener for reliable connections accepts a
     * connection from an XRC sender.
     */
    @Test
    void shouldRefuseQueuePairsOfAnotherType() throws Exception {
        try (var route =
                        connections.resolve(
                                to(listener, QueuePairType.RELIABLE_CONNECTION), TIMEOUT);
                var completions = device.newCompletionQueue(4)) {
            assertThatThrownBy(() ->
                            route.connect(
                                    domain,
                                    ConnectionOptions.of(QueuePairOptions.reliable(completions)),
                                    TIMEOUT))
                    .isInstanceOf(CmException.class)
                    .hasMessageContaining("the peer rejected the request");
        }
        try (var sender = connections.listen(lookUp(at(QueuePairType.XRC_SEND)), 4);
                var route = connections.resolve(to(sender, QueuePairType.XRC_SEND), TIMEOUT)) {
            assertThatThrownBy(() -> route.connect(domain, sendOptions(), TIMEOUT))
                    .isInstanceOf(CmException.class)
                    .hasMessageContaining("the peer rejected the request");
        }
        var reliable = at(QueuePairType.RELIABLE_CONNECTION);
        try (var other = connections.listen(lookUp(reliable), 4);
                var route = connections.resolve(to(other, QueuePairType.XRC_SEND), TIMEOUT)) {
            assertThatThrownBy(() -> route.connect(domain, sendOptions(), TIMEOUT))
                    .isInstanceOf(CmException.class)
                    .hasMessageContaining("the peer rejected the request");
        }
        try (var route = connections.resolve(to(listener, QueuePairType.XRC_SEND), TIMEOUT)) {
            assertThatThrownBy(() ->
                            route.connect(domain, ConnectionOptions.xrcReceive(xrcDomain), TIMEOUT))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("requires a queue pair of type XRC_SEND");
        }
    }

    @Test
    void shouldRejectConnectOnAReceivingQueuePair() throws Exception {
        try (var route = connections.resolve(to(listener, QueuePairType.XRC_RECEIVE), TIMEOUT)) {
            assertThatThrownBy(() ->
                            route.connect(domain, ConnectionOptions.xrcReceive(xrcDomain), TIMEOUT))
                    .hasMessageContaining("rdma_connect");
        }
    }
}
