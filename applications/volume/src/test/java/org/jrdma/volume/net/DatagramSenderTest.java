package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.soft.roce.SoftDevice;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.FrameHeader.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the sender of datagrams, and together with the receiver over a network with faults. */
@Timeout(60)
class DatagramSenderTest {

    private static final int BYTES = 1 << 20;
    private static final int MARKER_BYTES = 64;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration MARKER_TIMEOUT = Duration.ofMillis(200);

    private final Random random = new Random(1);
    private Device here;
    private Device there;
    private ProtectionDomain domain;
    private SoftDevice soft;
    private DatagramReceiver receiver;
    private DatagramSender sender;
    private AsyncDatagramQueuePair marked;
    private AsyncDatagramQueuePair marking;
    private MemoryRegion target;
    private MemoryRegion data;

    @BeforeEach
    void open() throws Exception {
        var library = SoftRoce.onLoopback(2);
        soft = library.devices().getLast();
        here = Verbs.from(library).open(library.devices().getFirst().name());
        there = Verbs.from(library).open(soft.name());
        domain = there.newProtectionDomain();
        var receiving = here.newProtectionDomain();
        var completions = here.newCompletionDispatcher(DatagramReceiver.WINDOW + 3);
        receiver = new DatagramReceiver(receiving, completions, 1);
        marked = receiving.newQueuePair(QueuePairOptions.datagrams(completions));
        marked.activate(1);
        marking = domain.newQueuePair(QueuePairOptions.datagrams(there.newCompletionDispatcher(2)));
        marking.activate(1);
        target = receiving.newArena(Access.LOCAL_WRITE).region(BYTES + MARKER_BYTES);
        sender = newSender(TIMEOUT);
        receiver.start(sender.maxDatagramBytes());
        data = domain.newArena(Access.LOCAL_WRITE).region(BYTES);
    }

    private DatagramSender newSender(Duration timeout) throws IOException {
        return new DatagramSender(
                domain,
                there.newCompletionDispatcher(DatagramSender.SENDS + 1),
                1,
                receiver.offer(),
                timeout);
    }

    @AfterEach
    void close() {
        there.close();
        here.close();
    }

    private void answer(Frame sent) throws IOException {
        assertThat(sent.header().kind()).isEqualTo(Kind.SENT);
        awaitDelivery();
        sender.answered(receiver.sent(sent.header().call()));
    }

    /** Waits for a datagram that follows those of the sender. Sends it again if it was lost. */
    private void awaitDelivery() throws IOException {
        var marker = marked.receive(target.slice(BYTES, MARKER_BYTES));
        try (var handle = domain.newAddressHandle(marking.addressOf(marked.endpoint()))) {
            while (!marker.isCompleted()) {
                marking.send(data.slice(0, 1), new Destination(handle, marked.number(), 1))
                        .await(TIMEOUT);
                try {
                    marker.await(MARKER_TIMEOUT);
                } catch (FabricTimeoutException _) {
                    // the network has lost the datagram
                }
            }
        }
    }

    private static Frame frame(Kind kind, long call, int... indexes) {
        var payload = ByteBuffer.allocate(indexes.length * Integer.BYTES);
        IntStream.of(indexes).forEach(payload::putInt);
        payload.flip();
        return new Frame(FrameHeader.of(kind, call, payload.remaining()), payload);
    }

    /** Transfers random data. Returns true if all of it has arrived. */
    private boolean transfer(long call, int bytes) throws IOException {
        var content = new byte[bytes];
        random.nextBytes(content);
        MemorySegment.copy(content, 0, data.segment(), ValueLayout.JAVA_BYTE, 0, bytes);
        var count = receiver.begin(call, target.slice(0, bytes));
        var hasArrived = sender.send(call, count, data.slice(0, bytes), this::answer);
        if (hasArrived) {
            assertThat(target.segment().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(content);
        }
        receiver.end(call);
        return hasArrived;
    }

    @Test
    void shouldTransferDataOfAnyLength() throws Exception {
        var part = sender.maxDatagramBytes() - DatagramHeader.BYTES;
        var call = 0L;
        for (var bytes :
                new int[] {3 * part + 1, 4 * part - 1, 4 * part, 4 * part + 1, 65_536, BYTES}) {
            assertThat(transfer(++call, bytes)).isTrue();
        }
        assertThat(receiver.state()).isEqualTo("6 reads by datagrams");
    }

    @Test
    void shouldReportNoIncorrectDataOverANetworkThatDuplicatesAndReordersDatagrams()
            throws Exception {
        soft.faults(NetworkFaults.seeded(1).duplication(0.05).reordering(0.05));
        var arrived = 0;
        for (var call = 1; call <= 50; call++) {
            arrived += transfer(call, 65_536 + random.nextInt(BYTES - 65_536)) ? 1 : 0;
        }
        assertThat(arrived).isPositive();
        assertThat(soft.faultCounts().overtaken()).isPositive();
    }

    @Test
    void shouldReportNoIncorrectDataOverANetworkThatLosesDatagrams() throws Exception {
        soft.faults(NetworkFaults.seeded(2).loss(0.01).corruption(0.01));
        var arrived = 0;
        for (var call = 1; call <= 50; call++) {
            arrived += transfer(call, 65_536) ? 1 : 0;
        }
        assertThat(arrived).isPositive();
        assertThat(soft.faultCounts().lost()).isPositive();
    }

    @Test
    void shouldReportThatNothingArrivesOverABrokenNetwork() throws Exception {
        soft.faults(NetworkFaults.seeded(1).loss(1));
        var lost = data.slice(0, 65_536);
        var count = receiver.begin(1, target.slice(0, lost.length()));

        assertThat(sender.send(1, count, lost, _ -> sender.answered(receiver.sent(1)))).isFalse();
        receiver.end(1);
        assertThat(receiver.state()).isEqualTo("no datagrams: no datagram has arrived");
        assertThat(receiver.begin(2, target.slice())).isZero();
    }

    @Test
    void shouldReportAPeerThatExpectsDatagramsThatDoNotExist() {
        var count = 1 + BYTES / (sender.maxDatagramBytes() - DatagramHeader.BYTES);
        for (var indexes :
                new int[][] {
                    {count}, {-1}, {0, Integer.MAX_VALUE}, new int[1 + DatagramReceiver.WINDOW]
                }) {
            assertThatExceptionOfType(ProtocolException.class)
                    .isThrownBy(() ->
                            sender.send(
                                    1,
                                    4,
                                    data.slice(),
                                    _ -> sender.answered(frame(Kind.MISSING, 1, indexes))))
                    .withMessage("the peer expects datagrams that do not exist");
        }
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() -> sender.send(1, count + 1, data.slice(), _ -> {}));
    }

    @Test
    void shouldReportAPeerThatExpectsDatagramsWithoutEnd() {
        var rounds = new AtomicInteger();
        assertThatExceptionOfType(ProtocolException.class)
                .isThrownBy(() ->
                        sender.send(
                                1,
                                4,
                                data.slice(),
                                _ -> {
                                    assertThat(rounds.incrementAndGet()).isLessThan(100);
                                    sender.answered(frame(Kind.MISSING, 1, 0));
                                }))
                .withMessage("the peer expects datagrams again too often");
        assertThat(rounds).hasValue(windows(BYTES) + DatagramReceiver.MAX_LOSSY_WINDOWS);
    }

    private int windows(int bytes) {
        var count = Math.ceilDiv(bytes, sender.maxDatagramBytes() - DatagramHeader.BYTES);
        return Math.ceilDiv(count, DatagramReceiver.WINDOW);
    }

    /** Sends that stay posted could read data and headers of a later call. */
    @Test
    void shouldSendNoDatagramsAfterSomeCouldNotBeSent() throws Exception {
        var lost = data.slice(0, 65_536);
        var count = receiver.begin(1, target.slice(0, lost.length()));
        Thread.currentThread().interrupt();

        assertThat(
                        sender.send(
                                1,
                                count,
                                lost,
                                sent -> {
                                    var _ = Thread.interrupted();
                                    answer(sent);
                                }))
                .isFalse();
        receiver.end(1);
        assertThat(receiver.state()).isEqualTo("no datagrams: no datagram has arrived");
    }

    @Test
    void shouldReportAPeerThatExpectsDatagramsForTwoCalls() throws Exception {
        assertThat(
                        sender.send(
                                1,
                                4,
                                data.slice(),
                                _ -> {
                                    assertThatExceptionOfType(ProtocolException.class)
                                            .isThrownBy(
                                                    () -> sender.send(2, 4, data.slice(), _ -> {}))
                                            .withMessage(
                                                    "the peer expects datagrams for two calls at once");
                                    sender.answered(frame(Kind.ARRIVED, 1));
                                }))
                .isTrue();
    }

    /** A sender without an answer must not write, because receives may be posted. */
    @Test
    void shouldFailWithoutAnAnswerOfThePeer() throws Exception {
        sender = newSender(Duration.ofMillis(100));
        assertThatExceptionOfType(VolumeException.class)
                .isThrownBy(() ->
                        sender.send(
                                1,
                                4,
                                data.slice(),
                                _ -> sender.answered(frame(Kind.MISSING, 2)))) // another call
                .withMessage("the peer did not report which datagrams arrived");
    }

    @Test
    void shouldStopToWaitWhenTheConnectionEnds() throws Exception {
        var waiting = new CountDownLatch(1);
        var sending =
                CompletableFuture.runAsync(() ->
                        assertThatExceptionOfType(VolumeException.class)
                                .isThrownBy(() ->
                                        sender.send(1, 4, data.slice(), _ -> waiting.countDown())));
        waiting.await();
        sender.shutdown();

        assertThat(sending).succeedsWithin(Duration.ofSeconds(10));
        assertThatExceptionOfType(VolumeException.class)
                .isThrownBy(() -> sender.send(2, 4, data.slice(), _ -> {}))
                .withMessage("the connection has ended");
    }
}
