package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the receiver of datagrams with a peer that sends datagrams of the test's choice. */
@Timeout(60)
class DatagramReceiverTest {

    private static final long CALL = 7;

    /** The number of datagrams of most reads. The last one is short. */
    private static final int COUNT = 6;

    private static final int LAST_BYTES = 100;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int MARKER_KEY = 5;

    private final List<AutoCloseable> resources = new ArrayList<>();
    private final Random random = new Random(1);
    private DatagramReceiver receiver;
    private MemoryRegion target;
    private AsyncDatagramQueuePair peer;
    private MemoryRegion outgoing;

    /** Receives a datagram after all others, over the completion queue of the receiver. */
    private AsyncDatagramQueuePair marked;

    private MemoryRegion markers;
    private int datagramBytes;
    private byte[] data;

    @BeforeEach
    void open() throws Exception {
        var library = SoftRoce.onLoopback(2);
        var verbs = Verbs.from(library);
        var here = keep(verbs.open(library.devices().getFirst().name()));
        var there = keep(verbs.open(library.devices().getLast().name()));
        var domain = here.newProtectionDomain();
        var completions = here.newCompletionDispatcher(DatagramReceiver.WINDOW + 64);
        receiver = new DatagramReceiver(domain, completions, 1);
        receiver.start(receiver.offer().maxDatagramBytes());
        datagramBytes = receiver.offer().maxDatagramBytes() - DatagramHeader.BYTES;
        target =
                domain.newArena(Access.LOCAL_WRITE)
                        .region(3L * DatagramReceiver.WINDOW * datagramBytes);
        marked = domain.newQueuePair(QueuePairOptions.datagrams(completions).sends(1).receives(16));
        marked.activate(MARKER_KEY);
        markers = domain.newArena(Access.LOCAL_WRITE).region(64);
        peer = newPeer(there);
        data = new byte[(COUNT - 1) * datagramBytes + LAST_BYTES];
        random.nextBytes(data);
    }

    private Device keep(Device device) {
        resources.add(device);
        return device;
    }

    private AsyncDatagramQueuePair newPeer(Device device) throws Exception {
        var domain = device.newProtectionDomain();
        outgoing = domain.newArena(Access.LOCAL_WRITE).region(receiver.offer().maxDatagramBytes());
        var created =
                domain.newQueuePair(
                        QueuePairOptions.datagrams(device.newCompletionDispatcher(16))
                                .sends(4)
                                .receives(4));
        created.activate(1);
        return created;
    }

    @AfterEach
    void close() throws Exception {
        for (var resource : resources) {
            resource.close();
        }
    }

    private int begin() {
        return receiver.begin(CALL, target.slice(0, data.length));
    }

    private void send(Endpoint to, int key, byte[] message) throws Exception {
        MemorySegment.copy(
                message, 0, outgoing.segment(), ValueLayout.JAVA_BYTE, 0, message.length);
        try (var handle = peer.domain().newAddressHandle(peer.addressOf(to))) {
            peer.send(
                            outgoing.slice(0, message.length),
                            new Destination(handle, to.queuePairNumber(), key))
                    .await(TIMEOUT);
        }
    }

    private void send(byte[] message) throws Exception {
        send(receiver.offer().endpoint(), receiver.offer().queueKey(), message);
    }

    private byte[] datagram(long transfer, int index, int headerBytes, byte[] content) {
        var message = new byte[DatagramHeader.BYTES + content.length];
        new DatagramHeader(transfer, index, headerBytes).encode(MemorySegment.ofArray(message));
        System.arraycopy(content, 0, message, DatagramHeader.BYTES, content.length);
        return message;
    }

    private byte[] datagram(int index) {
        var start = index * datagramBytes;
        var content = Arrays.copyOfRange(data, start, Math.min(start + datagramBytes, data.length));
        return datagram(receiver.offer().firstTransfer() + CALL, index, content.length, content);
    }

    private void sendAll(int... indexes) throws Exception {
        for (var index : indexes) {
            send(datagram(index));
        }
    }

    /** Waits until all datagrams have arrived or were dropped. */
    private void awaitDelivery() throws Exception {
        var marker = marked.receive(markers.slice());
        send(marked.endpoint(), MARKER_KEY, new byte[1]);
        marker.await(TIMEOUT);
    }

    private Frame report() throws Exception {
        awaitDelivery();
        return receiver.sent(CALL);
    }

    private void assertMissing(Integer... indexes) throws Exception {
        var answer = report();
        assertThat(answer.header().kind()).isEqualTo(Kind.MISSING);
        assertThat(answer.header().call()).isEqualTo(CALL);
        var payload = answer.payload().asIntBuffer();
        var actual = new ArrayList<Integer>();
        while (payload.hasRemaining()) {
            actual.add(payload.get());
        }
        assertThat(actual).containsExactly(indexes);
    }

    private void assertArrived() throws Exception {
        assertThat(report().header().kind()).isEqualTo(Kind.ARRIVED);
        assertThat(targetBytes()).isEqualTo(data);
        receiver.end(CALL);
    }

    private byte[] targetBytes() {
        return target.segment().asSlice(0, data.length).toArray(ValueLayout.JAVA_BYTE);
    }

    private static int[] all(int count) {
        return IntStream.range(0, count).toArray();
    }

    @Test
    void shouldReceiveDatagramsInOrder() throws Exception {
        assertThat(begin()).isEqualTo(COUNT);
        sendAll(all(COUNT));

        assertArrived();
        assertThat(receiver.state()).isEqualTo("1 reads by datagrams");
    }

    @Test
    void shouldMoveDatagramsThatArriveInAnotherOrder() throws Exception {
        for (var repeat = 0; repeat < 30; repeat++) {
            random.nextBytes(data);
            var order = new ArrayList<>(IntStream.range(0, COUNT).boxed().toList());
            Collections.shuffle(order, random);
            begin();
            sendAll(order.stream().mapToInt(index -> index).toArray());

            assertArrived();
        }
    }

    @Test
    void shouldRequestLostDatagramsAndKeepTheOthers() throws Exception {
        begin();
        sendAll(0, 2, 3, 4);
        assertMissing(1, 5);
        sendAll(5);
        assertMissing(1);
        sendAll(1);

        assertArrived();
    }

    @Test
    void shouldIgnoreRepeatedDatagrams() throws Exception {
        begin();
        sendAll(1, 1, 0, 0, 5, 2);
        assertMissing(3, 4);
        sendAll(1, 3);
        assertMissing(4);
        sendAll(4);

        assertArrived();
    }

    /** The first datagram 1 arrives in the place of datagram 0. */
    @Test
    void shouldNotReplaceDataThatHasArrivedInPlace() throws Exception {
        var other = new byte[datagramBytes];
        begin();
        send(datagram(receiver.offer().firstTransfer() + CALL, 1, other.length, other));
        sendAll(1, 2, 3, 4);
        assertMissing(0, 5);
        sendAll(0, 5);

        assertArrived();
    }

    @Test
    void shouldIgnoreDatagramsOfOtherReads() throws Exception {
        var content = new byte[datagramBytes];
        Arrays.fill(content, (byte) 1);
        begin();
        var stale = receiver.offer().firstTransfer() + CALL - 1;
        send(datagram(stale, 0, content.length, content));
        send(datagram(CALL, 1, content.length, content));
        sendAll(2, 3, 4, 5);
        assertMissing(0, 1);
        send(datagram(stale, 3, content.length, content));
        sendAll(0);
        assertMissing(1);
        sendAll(1);

        assertArrived();
    }

    @Test
    void shouldIgnoreInvalidDatagrams() throws Exception {
        var transfer = receiver.offer().firstTransfer() + CALL;
        var full = new byte[datagramBytes];
        Arrays.fill(full, (byte) 1);
        var garbage = new byte[datagramBytes + DatagramHeader.BYTES];
        random.nextBytes(garbage);
        var invalid =
                List.of(
                        new byte[0],
                        new byte[DatagramHeader.BYTES - 1],
                        garbage,
                        datagram(transfer, -1, full.length, full),
                        datagram(transfer, COUNT, full.length, full),
                        datagram(transfer, Integer.MAX_VALUE, full.length, full),
                        datagram(transfer, 0, full.length, new byte[full.length - 1]),
                        datagram(transfer, 0, LAST_BYTES, full),
                        datagram(transfer, COUNT - 1, full.length, full),
                        datagram(transfer, 0, -1, full));
        for (var message : invalid) {
            begin();
            send(message);
            sendAll(1, 2, 3, 4);
            send(message);
            assertMissing(0, 5);
            sendAll(0, 5);

            assertArrived();
        }
    }

    @Test
    void shouldNotReceiveDatagramsWithAnotherQueueKey() throws Exception {
        begin();
        for (var index = 0; index < COUNT; index++) {
            send(receiver.offer().endpoint(), receiver.offer().queueKey() ^ 1, datagram(index));
        }
        sendAll(all(COUNT));

        assertArrived(); // the others have consumed no receives
    }

    @Test
    void shouldNotChangeTheBufferAfterTheReadHasEnded() throws Exception {
        begin();
        sendAll(0, 1);
        awaitDelivery();
        receiver.end(CALL); // as after a reply that reports a failure
        target.segment().fill((byte) 9);
        sendAll(all(COUNT));
        awaitDelivery();
        assertThat(targetBytes()).containsOnly(9);

        begin();
        sendAll(all(COUNT));
        assertArrived();
    }

    @Test
    void shouldNotChangeTheBufferAfterTheConnectionHasEnded() throws Exception {
        begin();
        sendAll(0);
        awaitDelivery();
        receiver.shutdown();
        target.segment().fill((byte) 9);
        sendAll(all(COUNT));
        awaitDelivery();

        assertThat(targetBytes()).containsOnly(9);
        assertThat(begin()).isZero();
        assertThat(receiver.state()).isEqualTo("no datagrams: the connection has ended");
    }

    @Test
    void shouldNotTakeDataAfterTheConnectionHasEnded() throws Exception {
        begin();
        sendAll(all(COUNT));
        awaitDelivery();
        receiver.shutdown();
        target.segment().fill((byte) 9);

        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> receiver.sent(CALL))
                .withMessage("the peer sent datagrams that no call expects");
        assertThat(targetBytes()).containsOnly(9);
    }

    @Test
    void shouldRequestRdmaWriteAfterManyLosses() throws Exception {
        begin();
        sendAll(0);
        assertMissing(1, 2, 3, 4, 5);
        assertMissing(1, 2, 3, 4, 5);
        assertMissing(1, 2, 3, 4, 5);
        assertMissing();
        target.segment().fill((byte) 9);
        sendAll(all(COUNT)); // no receive is posted while the peer writes
        awaitDelivery();
        assertThat(targetBytes()).containsOnly(9);
        receiver.end(CALL);

        assertThat(begin()).isEqualTo(COUNT);
    }

    @Test
    void shouldUseNoDatagramsAfterNoneHasArrived() throws Exception {
        begin();
        for (var window = 0; window < 3; window++) {
            assertMissing(0, 1, 2, 3, 4, 5);
        }
        assertMissing();
        receiver.end(CALL);

        assertThat(begin()).isZero();
        assertThat(receiver.state()).isEqualTo("no datagrams: no datagram has arrived");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldReceiveMoreDatagramsThanTheReceiveQueueHolds(int windows) throws Exception {
        var count = windows * DatagramReceiver.WINDOW - 1;
        data = new byte[count * datagramBytes];
        random.nextBytes(data);
        assertThat(begin()).isEqualTo(Math.min(count, DatagramReceiver.WINDOW));
        for (var next = IntStream.range(0, Math.min(count, DatagramReceiver.WINDOW)).toArray();
                next.length > 0; ) {
            sendAll(next);
            var answer = report();
            next = new int[answer.payload().remaining() / Integer.BYTES];
            assertThat(next.length).isLessThanOrEqualTo(DatagramReceiver.WINDOW);
            answer.payload().asIntBuffer().get(next);
            if (next.length == 0) {
                assertThat(answer.header().kind()).isEqualTo(Kind.ARRIVED);
            }
        }

        assertThat(targetBytes()).isEqualTo(data);
    }

    /** A peer whose MTU is smaller sends shorter datagrams, but strangers can send longer ones. */
    @Test
    void shouldReceiveTheDatagramsOfAPeerWithASmallerMtu() throws Exception {
        receiver.start(256);
        datagramBytes = 256 - DatagramHeader.BYTES;
        data = Arrays.copyOf(data, (COUNT - 1) * datagramBytes + LAST_BYTES);
        begin();
        var garbage = new byte[receiver.offer().maxDatagramBytes()];
        Arrays.fill(garbage, (byte) 1);
        send(garbage); // consumes a receive
        sendAll(5, 4, 3, 2, 1, 0);
        assertMissing(0);
        sendAll(0);

        assertArrived();
    }

    @Test
    void shouldUseDatagramsForOneLargeReadAtATime() {
        assertThat(receiver.begin(1, target.slice(0, 3L * datagramBytes))).isZero();
        assertThat(begin()).isEqualTo(COUNT);
        assertThat(receiver.begin(CALL + 1, target.slice(0, data.length))).isZero();
        receiver.end(CALL + 1); // of the read that uses no datagrams
        assertThat(receiver.begin(CALL + 2, target.slice(0, data.length))).isZero();
        receiver.end(CALL);

        assertThat(begin()).isEqualTo(COUNT);
    }

    @Test
    void shouldRetractReceivesOnAnInterruptedThread() throws Exception {
        begin();
        Thread.currentThread().interrupt();
        receiver.end(CALL);
        assertThat(begin()).isZero();
        assertThat(Thread.interrupted()).isTrue();

        assertThat(begin()).isEqualTo(COUNT);
        sendAll(all(COUNT));
        assertArrived();
    }

    @Test
    void shouldRejectAReportForACallThatExpectsNoDatagrams() {
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> receiver.sent(CALL))
                .withMessage("the peer sent datagrams that no call expects");
        begin();
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> receiver.sent(CALL + 1));
    }
}
