package org.jrdma.tck.sisci;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.MessageReceiver;
import org.junit.jupiter.api.Test;

/** Tests message queues between nodes. */
class MessageQueueTest extends AbstractMultiNodeTest {

    private static final int CAPACITY = 1024;
    private static final int MESSAGES = 20_000;

    /**
     * The time limit for a close that does not wait for the peer. A close that waits takes five
     * seconds.
     */
    private static final Duration CLOSE_LIMIT = ofSeconds(2);

    private static MemorySegment message(String text) {
        return MemorySegment.ofArray(text.getBytes(UTF_8));
    }

    private void peerOpens() throws Exception {
        peer.run(context ->
                context.put("receiver", context.node().newMessageQueue(SEGMENT, CAPACITY)));
    }

    private void peerReceives(String text) throws Exception {
        peer.run(context ->
                assertThat(context.get("receiver", MessageReceiver.class).receive(TIMEOUT))
                        .asString(UTF_8)
                        .isEqualTo(text));
    }

    @Test
    void shouldDeliverMessages() throws Exception {
        peerOpens();
        var sender = node.connectMessageQueue(peer.node(), SEGMENT, TIMEOUT);

        sender.send(message("Saluton"), TIMEOUT);
        sender.send(message(""), TIMEOUT);
        sender.send(message("mondo"), TIMEOUT);

        peerReceives("Saluton");
        peerReceives("");
        peerReceives("mondo");
    }

    /** Sends messages of various lengths through a small ring buffer. */
    @Test
    void shouldNotLoseTearOrReorderMessages() throws Exception {
        try (var receiver = node.newMessageQueue(SEGMENT, CAPACITY)) {
            var localNode = node.id();
            var sent =
                    peer.submit(context -> {
                        try (var sender =
                                context.node().connectMessageQueue(localNode, SEGMENT, TIMEOUT)) {
                            for (var i = 0; i < MESSAGES; i++) {
                                var length = i * 37 % (sender.maxMessageBytes() + 1);
                                sender.send(
                                        MemorySegment.ofArray(TestPattern.pattern(i, length)),
                                        TIMEOUT);
                            }
                        }
                        return MESSAGES;
                    });
            var longest = CAPACITY / 2 - 8;
            for (var i = 0; i < MESSAGES; i++) {
                assertThat(receiver.receive(TIMEOUT))
                        .as("message %d", i)
                        .isEqualTo(TestPattern.pattern(i, i * 37 % (longest + 1)));
            }

            assertThat(sent.get()).isEqualTo(MESSAGES);
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(TIMEOUT))
                    .withMessageContaining("has closed or is lost");
        }
    }

    @Test
    void shouldRejectASendWhenTheRingBufferIsFull() throws Exception {
        peerOpens();
        var sender = node.connectMessageQueue(peer.node(), SEGMENT, TIMEOUT);
        var large = MemorySegment.ofArray(new byte[sender.maxMessageBytes()]);
        while (sender.trySend(large)) {
            // The loop fills the ring buffer.
        }

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> sender.send(large, ofMillis(20)));
        peer.run(context -> context.get("receiver", MessageReceiver.class).receive(TIMEOUT));

        sender.send(large, TIMEOUT);
    }

    @Test
    void shouldCloseTheSenderBeforeTheReceiverOnOneThreadWithoutWaiting() throws Exception {
        var other = fabric.sisci().open();
        var receiver = other.newMessageQueue(SEGMENT, CAPACITY);
        var sender = node.connectMessageQueue(other.id(), SEGMENT, TIMEOUT);
        sender.send(message("Saluton"), TIMEOUT);
        assertThat(receiver.receive(TIMEOUT)).asString(UTF_8).isEqualTo("Saluton");
        // Connects to the sender, in order to report the consumed bytes.
        receiver.tryReceive((_, _, _) -> {});
        sender.send(message("the last"), TIMEOUT);
        var start = System.nanoTime();

        sender.close();

        assertThat(receiver.receive(TIMEOUT)).asString(UTF_8).isEqualTo("the last");
        receiver.close();
        node.close();
        other.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CLOSE_LIMIT);
    }

    @Test
    void shouldCloseTheReceiverBeforeTheSenderOnOneThreadWithoutWaiting() throws Exception {
        for (var received : new int[] {0, 1}) {
            var senderNode = fabric.sisci().open();
            var receiverNode = fabric.sisci().open();
            var receiver = receiverNode.newMessageQueue(SEGMENT, CAPACITY);
            var sender = senderNode.connectMessageQueue(receiverNode.id(), SEGMENT, TIMEOUT);
            for (var i = 0; i < received; i++) {
                sender.send(message("Saluton"), TIMEOUT);
                assertThat(receiver.receive(TIMEOUT)).hasSize(7);
                receiver.tryReceive((_, _, _) -> {});
            }
            var start = System.nanoTime();

            receiver.close();
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> sender.send(message("late"), TIMEOUT))
                    .withMessageContaining("has closed");
            sender.close();
            senderNode.close();
            receiverNode.close();

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CLOSE_LIMIT);
        }
    }

    /** One thread closes the nodes of both sides, one after the other. */
    @Test
    void shouldCloseWithItsNodeWithoutWaiting() throws Exception {
        for (var senderFirst : new boolean[] {false, true}) {
            var senderNode = fabric.sisci().open();
            var receiverNode = fabric.sisci().open();
            var receiver = receiverNode.newMessageQueue(SEGMENT, CAPACITY);
            var sender = senderNode.connectMessageQueue(receiverNode.id(), SEGMENT, TIMEOUT);
            sender.send(message("Saluton"), TIMEOUT);
            assertThat(receiver.receive(TIMEOUT)).hasSize(7);
            receiver.tryReceive((_, _, _) -> {});
            var start = System.nanoTime();

            (senderFirst ? senderNode : receiverNode).close();
            (senderFirst ? receiverNode : senderNode).close();
            sender.close();
            receiver.close();

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CLOSE_LIMIT);
        }
    }

    @Test
    void shouldRejectASenderThatConnectsDuringClose() throws Exception {
        peerOpens();
        peer.run(context -> context.get("receiver", MessageReceiver.class).close());

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> node.connectMessageQueue(peer.node(), SEGMENT, ofMillis(20)));
    }

    @Test
    void shouldRejectASecondSender() throws Exception {
        peerOpens();
        var sender = node.connectMessageQueue(peer.node(), SEGMENT, TIMEOUT);

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> node.connectMessageQueue(peer.node(), SEGMENT, TIMEOUT))
                .withMessageContaining("already has a sender");

        sender.send(message("Saluton"), TIMEOUT);
        peerReceives("Saluton");
    }

    @Test
    void shouldRejectASendAfterTheLinkHasFailed() throws Exception {
        var cable = fabric.cable();
        peerOpens();
        var sender = node.connectMessageQueue(peer.node(), SEGMENT, TIMEOUT);

        cable.cut();
        cable.restore();

        eventually(() -> {
            try {
                return !sender.trySend(message(""));
            } catch (FabricException e) {
                assertThat(e).hasMessageContaining("messages may be lost");
                return true;
            }
        });
    }

    @Test
    void shouldRejectUseAfterClose() throws Exception {
        peerOpens();
        var sender = node.connectMessageQueue(peer.node(), SEGMENT, TIMEOUT);

        sender.close();
        sender.close();

        assertThatIllegalStateException().isThrownBy(() -> sender.trySend(message("")));
    }
}
