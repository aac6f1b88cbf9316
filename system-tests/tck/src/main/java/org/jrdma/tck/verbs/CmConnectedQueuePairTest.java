package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.tck.verbs.Side.times;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PolledSharedReceiveQueue;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.SharedReceiveQueueOptions;
import org.jrdma.verbs.cm.Connection;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.cm.Listener;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.AsyncEvent;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.CompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests queue pairs that the connection manager connects by IP address. Most other tests connect
 * them with {@code ibv_modify_qp}, which iWARP devices do not support.
 */
class CmConnectedQueuePairTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int PIECES = 4;
    private static final int INLINE = 64;
    private static final int RECEIVES = 16;
    private static final int PLACE_BYTES = 1024;

    private Device device;
    private MemoryRegion outgoing;
    private MemoryRegion incoming;
    private PolledSharedReceiveQueue shared;
    private CompletionCursor arrived;
    private CompletionCursor sent;
    private Connection<PolledQueuePair> sender;
    private Connection<PolledQueuePair> receiver;

    @BeforeEach
    void connect() throws Exception {
        var fabric = Fabric.underTest();
        fabric.needs(Feature.SHARED_RECEIVE_QUEUES);
        fabric.needs(Feature.MOVING_DATA);
        var connections = fabric.connections();
        device = fabric.open();
        var domain = device.newProtectionDomain();
        outgoing = domain.newArena(Pair.ALL).region(RECEIVES * PLACE_BYTES);
        incoming = domain.newArena(Pair.ALL).region(RECEIVES * PLACE_BYTES);
        shared =
                domain.newPolledSharedReceiveQueue(
                        SharedReceiveQueueOptions.capacity(RECEIVES).elements(PIECES));
        var received = device.newCompletionQueue(64);
        arrived = received.newCursor(RECEIVES);
        var completed = device.newCompletionQueue(64);
        sent = completed.newCursor(RECEIVES);
        try (var listener = connections.listen(new InetSocketAddress(Fabric.address(device), 0))) {
            var accepting =
                    BackgroundCalls.call(
                            Thread.ofVirtual(), () -> accept(listener, domain, received));
            sender =
                    connections.connect(listener.localAddress(), domain, sends(completed), TIMEOUT);
            receiver = accepting.get(60, TimeUnit.SECONDS);
        }
    }

    private static ConnectionOptions<PolledQueuePair> sends(CompletionQueue completions) {
        return ConnectionOptions.of(
                QueuePairOptions.reliable(completions)
                        .sends(RECEIVES)
                        .receives(1)
                        .sendElements(PIECES)
                        .inlineBytes(INLINE));
    }

    private Connection<PolledQueuePair> accept(
            Listener listener, ProtectionDomain domain, CompletionQueue completions)
            throws Exception {
        return listener.accept(
                domain,
                ConnectionOptions.of(
                        QueuePairOptions.reliable(completions).sends(1).sharedReceives(shared)),
                TIMEOUT);
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    private static MemorySlice place(MemoryRegion region, int number, int bytes) {
        return region.slice((long) number * PLACE_BYTES, bytes);
    }

    private static MemorySlice[] places(MemoryRegion region, int first, int bytes) {
        return IntStream.range(first, first + PIECES)
                .mapToObj(number -> place(region, number, bytes))
                .toArray(MemorySlice[]::new);
    }

    private static byte[] content(MemorySlice slice) {
        return slice.segment().toArray(ValueLayout.JAVA_BYTE);
    }

    private void receive(int count) throws Exception {
        for (var number = 0; number < count; number++) {
            post(shared.prepareReceive(place(incoming, number, PLACE_BYTES)).id(number));
        }
    }

    private PreparedSend send(int number, int bytes) {
        var place = place(outgoing, number, bytes);
        place.segment().fill((byte) (number + 1));
        return sender.queuePair().prepareSend(place);
    }

    private static void post(PreparedRequest<?> request) throws Exception {
        assertThat(request.tryPost()).isTrue();
    }

    private void assertSent(int count) {
        for (var completed : Side.take(sent, count)) {
            assertThat(completed.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    @Test
    void shouldUseSharedReceivesInOrder() throws Exception {
        receive(RECEIVES);

        for (var number = 0; number < RECEIVES; number++) {
            post(send(number, 100 + number));

            var message = Side.take(arrived, 1).getFirst();
            assertThat(message.id()).isEqualTo(number);
            assertThat(message.completion().bytes()).isEqualTo(100 + number);
            assertThat(message.completion().queuePairNumber())
                    .isEqualTo(receiver.queuePair().number());
            assertThat(content(place(incoming, number, 100 + number)))
                    .isEqualTo(times(100 + number, number + 1));
        }
        assertSent(RECEIVES);
    }

    @Test
    void shouldReportThatFewerSharedReceivesRemainThanTheLimit() throws Exception {
        receive(3);
        shared.limit(2);

        post(send(0, 8));
        post(send(1, 8));

        Side.take(arrived, 2);
        AsyncEvent event;
        do {
            event = device.nextEvent(TIMEOUT);
        } while (event.type() != AsyncEventType.SHARED_RECEIVE_QUEUE_LIMIT_REACHED);
        assertThat(event.subject()).containsSame(shared);
    }

    @Test
    void shouldGatherAndScatterSlices() throws Exception {
        for (var number = 0; number < PIECES; number++) {
            place(outgoing, number, 10).segment().fill((byte) (number + 1));
        }
        post(shared.prepareReceive(List.of(places(incoming, 0, 20))));

        post(sender.queuePair().prepareSend(List.of(places(outgoing, 0, 10))));

        assertThat(Side.take(arrived, 1).getFirst().completion().bytes()).isEqualTo(40);
        assertThat(content(place(incoming, 0, 10))).isEqualTo(times(10, 1));
        assertThat(content(incoming.slice(10, 10))).isEqualTo(times(10, 2));
        assertThat(content(place(incoming, 1, 10))).isEqualTo(times(10, 3));
        assertThat(content(incoming.slice(PLACE_BYTES + 10, 10))).isEqualTo(times(10, 4));
        assertSent(1);
    }

    @Test
    void shouldCopyInlineDataDuringThePost() throws Exception {
        receive(1);

        post(send(0, INLINE).inline(true));
        outgoing.segment().fill((byte) 99);

        assertThat(Side.take(arrived, 1).getFirst().completion().bytes()).isEqualTo(INLINE);
        assertThat(content(place(incoming, 0, INLINE))).isEqualTo(times(INLINE, 1));
        assertSent(1);
    }

    @Test
    void shouldPostAChainByOneCall() throws Exception {
        receive(3);

        var chain = sender.queuePair().prepareChain(send(0, 8), send(1, 8), send(2, 8));
        assertThat(chain.tryPost()).isTrue();

        var messages = Side.take(arrived, 3);
        for (var number = 0; number < 3; number++) {
            assertThat(messages.get(number).id()).isEqualTo(number);
            assertThat(content(place(incoming, number, 8))).isEqualTo(times(8, number + 1));
        }
        assertSent(3);
    }
}
