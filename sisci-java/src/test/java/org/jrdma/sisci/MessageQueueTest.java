package org.jrdma.sisci;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.abi.testing.AllocatedHeapBytes;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MessageQueueTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int CAPACITY = 256;
    private static final int MESSAGES = 20_000;

    private FakeLibrary library;
    private Node node;
    private MessageReceiver receiver;
    private MessageSender sender;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary(Kind.SINGLE_THREADED);
        node = library.sisci.open();
        receiver = node.newMessageQueue(7, CAPACITY);
        sender = node.connectMessageQueue(4, 7, TIMEOUT);
    }

    @AfterEach
    void close() {
        node.close();
    }

    private static MemorySegment message(String text) {
        return MemorySegment.ofArray(text.getBytes(UTF_8));
    }

    @Test
    void shouldConnectToQueuesWithFreeIds() throws Exception {
        var first = node.newMessageQueue(CAPACITY);
        var second = node.newMessageQueue(CAPACITY);
        assertThat(first.segmentId()).isNotEqualTo(second.segmentId());

        var toSecond = node.connectMessageQueue(4, second.segmentId(), TIMEOUT);
        toSecond.send(message("Saluton"), TIMEOUT);

        assertThat(second.receive(TIMEOUT)).asString(UTF_8).isEqualTo("Saluton");
        assertThat(first.tryReceive((_, _, _) -> {})).isFalse();
    }

    @Test
    void shouldDeliverMessagesInOrder() throws Exception {
        sender.send(message("Saluton"), TIMEOUT);
        sender.send(message(""), TIMEOUT);
        sender.send(message("mondo"), TIMEOUT);

        assertThat(receiver.receive(TIMEOUT)).asString(UTF_8).isEqualTo("Saluton");
        assertThat(receiver.receive(TIMEOUT)).isEmpty();
        assertThat(receiver.receive(TIMEOUT)).asString(UTF_8).isEqualTo("mondo");
        assertThat(receiver.tryReceive((_, _, _) -> {})).isFalse();
    }

    /**
     * Sends messages of random lengths through a small ring buffer, so that all cases of
     * wrap-around occur.
     */
    @Test
    void shouldNotLoseTruncateOrReorderMessagesBetweenTwoThreads() throws Exception {
        var sending =
                CompletableFuture.runAsync(() -> {
                    var random = new Random(1);
                    var bytes = new byte[sender.maxMessageBytes()];
                    try {
                        for (var i = 0; i < MESSAGES; i++) {
                            random.nextBytes(bytes);
                            var length = random.nextInt(bytes.length + 1);
                            sender.send(MemorySegment.ofArray(bytes).asSlice(0, length), TIMEOUT);
                        }
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                });

        var random = new Random(1);
        var bytes = new byte[sender.maxMessageBytes()];
        for (var i = 0; i < MESSAGES; i++) {
            random.nextBytes(bytes);
            var expected =
                    MemorySegment.ofArray(bytes).asSlice(0, random.nextInt(bytes.length + 1));
            var received = MemorySegment.ofArray(receiver.receive(TIMEOUT));
            assertThat(received.byteSize()).isEqualTo(expected.byteSize());
            assertThat(received.mismatch(expected)).as("message %d", i).isEqualTo(-1);
        }
        sending.join();
    }

    @Test
    void shouldFlushBeforeAndAfterTheAnnouncementOfAMessage() throws Exception {
        var before = library.calls("SCIFlush");

        sender.send(message("Saluton"), TIMEOUT);

        assertThat(library.calls("SCIFlush")).isEqualTo(before + 2);
    }

    @Test
    void shouldRejectASendUntilTheReceiverConsumesMessages() throws Exception {
        var message = message("x".repeat(sender.maxMessageBytes()));
        assertThat(sender.trySend(message)).isTrue();
        assertThat(sender.trySend(message)).isTrue();
        assertThat(sender.trySend(message(""))).isFalse();
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> sender.send(message, Duration.ofMillis(5)))
                .withMessageStartingWith("No space for a message in segment 7 of node 4");

        receiver.receive(TIMEOUT);

        assertThat(sender.trySend(message)).isTrue();
        assertThat(receiver.receive(TIMEOUT)).hasSize(sender.maxMessageBytes());
        assertThat(receiver.receive(TIMEOUT)).hasSize(sender.maxMessageBytes());
    }

    @Test
    void shouldRejectAMessageThatIsTooLong() {
        var message = message("x".repeat(sender.maxMessageBytes() + 1));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> sender.trySend(message))
                .withMessage("Cannot send a message of 121 bytes: the maximum is 120");
    }

    @Test
    void shouldRejectASecondSender() {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> node.connectMessageQueue(4, 7, TIMEOUT))
                .withMessage(
                        "The message queue in segment 7 of node 4 from node 4 already has a"
                                + " sender");
        assertThat(library.calls("SCIDisconnectSegment")).isOne();
    }

    @Test
    void shouldRejectASegmentThatIsNotAMessageQueue() throws Exception {
        var segment = node.newSegment(8, 4096);
        segment.offer();

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> node.connectMessageQueue(4, 8, TIMEOUT))
                .withMessageEndingWith("the segment is not a message queue");
    }

    @Test
    void shouldRejectAnInvalidCapacity() {
        assertThatIllegalArgumentException().isThrownBy(() -> node.newMessageQueue(9, 63));
        assertThatIllegalArgumentException().isThrownBy(() -> node.newMessageQueue(9, 100));
    }

    @Test
    void shouldReportLostMessages() throws Exception {
        try (var remote = node.connect(4, 7, TIMEOUT);
                var ring = remote.map()) {
            sender.send(message("one"), TIMEOUT);
            ring.putLong(MessageRing.RING, MessageRing.word(1, 3)); // message 0 is missing

            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(TIMEOUT))
                    .withMessage(
                            "The message queue in segment 7 of node 4 is corrupt from message"
                                    + " number 0 on: stores were lost, or another process wrote to it."
                                    + " Open another queue.");

            ring.putLong(MessageRing.RING, MessageRing.word(0, 1000));
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(TIMEOUT));

            ring.putLong(MessageRing.PRODUCED, CAPACITY + 8);
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(TIMEOUT));
        }
    }

    @Test
    void shouldRejectAMessageThatExceedsTheEndOfTheRing() throws Exception {
        var last = CAPACITY / MessageRing.WORD - 1;
        for (var number = 0; number < last; number++) {
            sender.send(message(""), TIMEOUT);
            assertThat(receiver.receive(TIMEOUT)).isEmpty();
        }
        try (var remote = node.connect(4, 7, TIMEOUT);
                var ring = remote.map()) {
            var position = (long) last * MessageRing.WORD;
            ring.putLong(MessageRing.RING + position, MessageRing.word(last, 16));
            ring.putLongRelease(MessageRing.PRODUCED, position + MessageRing.space(16));

            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(TIMEOUT))
                    .withMessageContaining("is corrupt from message number 31 on");
        }
    }

    @Test
    void shouldRejectASendAfterTheLinkHasFailed() throws Exception {
        library.notifyRemote(sisci_h.SCI_CB_NOT_OPERATIONAL());
        library.notifyRemote(sisci_h.SCI_CB_OPERATIONAL());

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> {
                    while (true) { // until a send fails, after the library has reported the failure
                        sender.trySend(message(""));
                        receiver.receive(TIMEOUT);
                    }
                })
                .withMessageContaining("messages may be lost");
    }

    @Test
    void shouldReportThatTheSenderIsGone() throws Exception {
        sender.send(message("one"), TIMEOUT);
        receiver.receive(TIMEOUT);
        // Connects to the sender, to report that all messages were consumed.
        receiver.tryReceive((_, _, _) -> {});

        library.notifyRemote(sisci_h.SCI_CB_LOST());

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> receiver.receive(TIMEOUT))
                .withMessage(
                        "The sender of the message queue in segment 7 of node 4 has closed or is"
                                + " lost");
    }

    @Test
    void shouldDeliverAllMessagesOfASenderThatIsGone() throws Exception {
        for (var number = 0; number < 6; number++) {
            sender.send(message("message " + number), TIMEOUT);
        }
        library.fail("SCIConnectSegment", sisci_h.SCI_ERR_NO_SUCH_NODEID(), Integer.MAX_VALUE);

        for (var number = 0; number < 6; number++) {
            assertThat(receiver.receive(TIMEOUT)).asString(UTF_8).isEqualTo("message " + number);
        }
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> receiver.receive(TIMEOUT))
                .withMessage(
                        "The sender of the message queue in segment 7 of node 4 has closed or is"
                                + " lost");
    }

    @Test
    void shouldDeliverMessagesWhileTheReportToTheSenderFails() throws Exception {
        var large = message("x".repeat(sender.maxMessageBytes()));
        sender.send(large, TIMEOUT);
        sender.send(large, TIMEOUT);
        library.fail("SCIConnectSegment", sisci_h.SCI_ERR_NO_LINK_ACCESS(), Integer.MAX_VALUE);

        assertThat(receiver.receive(TIMEOUT)).hasSize(sender.maxMessageBytes());
        assertThat(receiver.receive(TIMEOUT)).hasSize(sender.maxMessageBytes());
        assertThat(sender.trySend(large)).as("before the report to the sender").isFalse();
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> receiver.receive(Duration.ofMillis(5)))
                .satisfies(e -> assertThat(e.getSuppressed()[0]).hasMessageContaining("NO_LINK"));

        library.fail("SCIConnectSegment", sisci_h.SCI_ERR_NO_LINK_ACCESS(), 2);
        while (!sender.trySend(large)) { // each attempt to receive retries the report
            assertThat(receiver.tryReceive((_, _, _) -> {})).isFalse();
        }
        assertThat(receiver.receive(TIMEOUT)).hasSize(sender.maxMessageBytes());
    }

    @Test
    void shouldCloseTheConnectionIfMappingFails() throws Exception {
        library.fail("SCIMapRemoteSegment", sisci_h.SCI_ERR_HW_NOSPC(), 1);
        sender.send(message("one"), TIMEOUT);

        assertThat(receiver.receive(TIMEOUT)).hasSize(3);
        assertThat(receiver.tryReceive((_, _, _) -> {})).isFalse();

        assertThat(library.calls("SCIDisconnectSegment")).isOne();
    }

    @Test
    void shouldReportThatTheOnlySenderHasClosed() throws Exception {
        sender.close();

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> node.connectMessageQueue(4, 7, TIMEOUT))
                .withMessageContaining("cannot be used again: its sender has closed");
    }

    @Test
    void shouldEndAWaitOnTimeoutAndInterrupt() {
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> receiver.receive(Duration.ofMillis(5)))
                .withMessageStartingWith("No message in segment 7 of node 4");
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> receiver.receive(TIMEOUT));
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldNotAllocate() throws Exception {
        try (var arena = Arena.ofConfined()) {
            var message = arena.allocate(64);
            var sum = new long[1];
            MessageReceiver.Handler handler =
                    (memory, offset, _) -> sum[0] += memory.get(ValueLayout.JAVA_LONG, offset);

            var bytes =
                    AllocatedHeapBytes.ofCompiled(() -> sendAndReceive(message, handler, 50_000));

            assertThat(bytes).isLessThan(1_000);
            assertThat(sum[0]).isZero();
        }
    }

    private void sendAndReceive(MemorySegment message, MessageReceiver.Handler handler, int count)
            throws IOException {
        for (var i = 0; i < count; i++) {
            sender.trySend(message);
            receiver.tryReceive(handler);
        }
    }

    @Test
    void shouldCloseBothEnds() {
        sender.close();
        receiver.close();

        assertThat(library.calls("SCIRemoveSegment")).as("not BUSY").isEqualTo(2);
    }
}
