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
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.TinyLibrary.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MessageQueueTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int CAPACITY = 256;
    private static final int MESSAGES = 20_000;

    private TinyLibrary library;
    private Node node;
    private MessageReceiver receiver;
    private MessageSender sender;

    @BeforeEach
    void open() throws Exception {
        library = new TinyLibrary(Kind.SINGLE_THREADED);
        node = library.sisci.open();
        receiver = MessageReceiver.open(node, 7, CAPACITY);
        sender = MessageSender.connect(node, 4, 7, SOON);
    }

    @AfterEach
    void close() {
        node.close();
    }

    private static MemorySegment message(String text) {
        return MemorySegment.ofArray(text.getBytes(UTF_8));
    }

    @Test
    void shouldCarryMessagesInTheirOrder() throws Exception {
        sender.send(message("Saluton"), SOON);
        sender.send(message(""), SOON);
        sender.send(message("mondo"), SOON);

        assertThat(receiver.receive(SOON)).asString(UTF_8).isEqualTo("Saluton");
        assertThat(receiver.receive(SOON)).isEmpty();
        assertThat(receiver.receive(SOON)).asString(UTF_8).isEqualTo("mondo");
        assertThat(receiver.tryReceive((_, _, _) -> {})).isFalse();
    }

    /** Lengths of all kinds, in a ring that they soon fill, so that every kind of end is met. */
    @Test
    void shouldLoseTearAndReorderNothingBetweenTwoThreads() throws Exception {
        var sending =
                CompletableFuture.runAsync(() -> {
                    var random = new Random(1);
                    var bytes = new byte[sender.maxMessageBytes()];
                    try {
                        for (var i = 0; i < MESSAGES; i++) {
                            random.nextBytes(bytes);
                            var length = random.nextInt(bytes.length + 1);
                            sender.send(MemorySegment.ofArray(bytes).asSlice(0, length), SOON);
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
            var received = MemorySegment.ofArray(receiver.receive(SOON));
            assertThat(received.byteSize()).isEqualTo(expected.byteSize());
            assertThat(received.mismatch(expected)).as("message %d", i).isEqualTo(-1);
        }
        sending.join();
    }

    @Test
    void shouldFlushBeforeItAnnouncesAMessageAndAfter() throws Exception {
        var before = library.calls("SCIFlush");

        sender.send(message("Saluton"), SOON);

        assertThat(library.calls("SCIFlush")).isEqualTo(before + 2);
    }

    @Test
    void shouldHaveNoRoomUntilTheReceiverTookSome() throws Exception {
        var message = message("x".repeat(sender.maxMessageBytes()));
        assertThat(sender.trySend(message)).isTrue();
        assertThat(sender.trySend(message)).isTrue();
        assertThat(sender.trySend(message(""))).isFalse();
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> sender.send(message, Duration.ofMillis(5)))
                .withMessageStartingWith("No room for a message in segment 7 of node 4");

        receiver.receive(SOON);

        assertThat(sender.trySend(message)).isTrue();
        assertThat(receiver.receive(SOON)).hasSize(sender.maxMessageBytes());
        assertThat(receiver.receive(SOON)).hasSize(sender.maxMessageBytes());
    }

    @Test
    void shouldRefuseAMessageThatIsTooLong() {
        var message = message("x".repeat(sender.maxMessageBytes() + 1));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> sender.trySend(message))
                .withMessage("A message has at most 120 bytes: 121");
    }

    @Test
    void shouldRefuseASecondSender() {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> MessageSender.connect(node, 4, 7, SOON))
                .withMessage(
                        "The message queue in segment 7 of node 4 from node 4 has a sender already");
        assertThat(library.calls("SCIDisconnectSegment")).isOne();
    }

    @Test
    void shouldRefuseASegmentThatIsNoQueue() throws Exception {
        var other = node.newSegment(8, 4096);
        other.offer();

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> MessageSender.connect(node, 4, 8, SOON))
                .withMessageEndingWith("is no message queue");
    }

    @Test
    void shouldRefuseACapacityThatMakesNoSense() {
        assertThatIllegalArgumentException().isThrownBy(() -> MessageReceiver.open(node, 9, 63));
        assertThatIllegalArgumentException().isThrownBy(() -> MessageReceiver.open(node, 9, 100));
    }

    @Test
    void shouldTellThatMessagesWereLost() throws Exception {
        try (var remote = node.connect(4, 7, SOON);
                var ring = remote.map()) {
            sender.send(message("one"), SOON);
            ring.putLong(MessageRing.RING, MessageRing.word(1, 3)); // number 0 never came

            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(SOON))
                    .withMessage("The messages in segment 7 of node 4 are lost from number 0 on");

            ring.putLong(MessageRing.RING, MessageRing.word(0, 1000));
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(SOON));

            ring.putLong(MessageRing.PRODUCED, CAPACITY + 8);
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(SOON));
        }
    }

    @Test
    void shouldRefuseToSendOnceTheLinkHasFailed() throws Exception {
        library.tellRemote(sisci_h.SCI_CB_NOT_OPERATIONAL());
        library.tellRemote(sisci_h.SCI_CB_OPERATIONAL());

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> {
                    while (true) { // until the library has told
                        sender.trySend(message(""));
                        receiver.receive(SOON);
                    }
                })
                .withMessageContaining("messages may be lost");
    }

    @Test
    void shouldTellThatItsSenderIsGone() throws Exception {
        sender.send(message("one"), SOON);
        receiver.receive(SOON);
        receiver.tryReceive((_, _, _) -> {}); // connects, to tell that it is empty

        library.tellRemote(sisci_h.SCI_CB_LOST());

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> receiver.receive(SOON))
                .withMessage("The sender to segment 7 of node 4 is gone");
    }

    @Test
    void shouldHandOverAllThatASenderSentThatIsGone() throws Exception {
        for (var number = 0; number < 6; number++) {
            sender.send(message("message " + number), SOON);
        }
        library.fail("SCIConnectSegment", sisci_h.SCI_ERR_NO_SUCH_NODEID(), Integer.MAX_VALUE);

        for (var number = 0; number < 6; number++) {
            assertThat(receiver.receive(SOON)).asString(UTF_8).isEqualTo("message " + number);
        }
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> receiver.receive(SOON))
                .withMessage("The sender to segment 7 of node 4 is gone");
    }

    @Test
    void shouldHandOverMessagesWhileItsSenderCannotBeTold() throws Exception {
        var large = message("x".repeat(sender.maxMessageBytes()));
        sender.send(large, SOON);
        sender.send(large, SOON);
        library.fail("SCIConnectSegment", sisci_h.SCI_ERR_NO_LINK_ACCESS(), Integer.MAX_VALUE);

        assertThat(receiver.receive(SOON)).hasSize(sender.maxMessageBytes());
        assertThat(receiver.receive(SOON)).hasSize(sender.maxMessageBytes());
        assertThat(sender.trySend(large)).as("nobody has told it").isFalse();
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> receiver.receive(Duration.ofMillis(5)))
                .satisfies(e -> assertThat(e.getSuppressed()[0]).hasMessageContaining("NO_LINK"));

        library.fail("SCIConnectSegment", sisci_h.SCI_ERR_NO_LINK_ACCESS(), 2);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> receiver.receive(Duration.ofMillis(50)));
        sender.send(large, SOON);
        assertThat(receiver.receive(SOON)).hasSize(sender.maxMessageBytes());
    }

    @Test
    void shouldLeaveNoConnectionBehindWhereItHasNoRoomForAMap() throws Exception {
        library.fail("SCIMapRemoteSegment", sisci_h.SCI_ERR_HW_NOSPC(), 1);
        sender.send(message("one"), SOON);

        assertThat(receiver.receive(SOON)).hasSize(3);
        assertThat(receiver.tryReceive((_, _, _) -> {})).isFalse();

        assertThat(library.calls("SCIDisconnectSegment")).isOne();
    }

    @Test
    void shouldSayThatTheOnlySenderHasLeft() throws Exception {
        sender.close();

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> MessageSender.connect(node, 4, 7, SOON))
                .withMessageContaining("had its sender, which has left");
    }

    @Test
    void shouldEndAWaitByItsDeadlineAndByAnInterrupt() {
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> receiver.receive(Duration.ofMillis(5)))
                .withMessageStartingWith("No message in segment 7 of node 4");
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> receiver.receive(SOON));
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldAllocateNothing() throws Exception {
        try (var arena = Arena.ofConfined()) {
            var message = arena.allocate(64);
            var sum = new long[1];
            MessageReceiver.Handler handler =
                    (memory, offset, _) -> sum[0] += memory.get(ValueLayout.JAVA_LONG, offset);

            var bytes = AllocatedBytes.ofCompiled(() -> carry(message, handler, 50_000));

            assertThat(bytes).isLessThan(1_000);
            assertThat(sum[0]).isZero();
        }
    }

    private void carry(MemorySegment message, MessageReceiver.Handler handler, int count)
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

        assertThat(library.calls("SCIRemoveSegment")).as("never BUSY").isEqualTo(2);
    }
}
