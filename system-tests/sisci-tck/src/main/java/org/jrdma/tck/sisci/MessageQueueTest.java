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
import org.jrdma.sisci.MessageSender;
import org.junit.jupiter.api.Test;

/** Messages from node to node, by stores alone. */
class MessageQueueTest extends NodesTest {

    private static final int CAPACITY = 1024;
    private static final int MESSAGES = 20_000;

    /** Less than the five seconds that a close waits at most. */
    private static final Duration AT_ONCE = ofSeconds(2);

    private static MemorySegment message(String text) {
        return MemorySegment.ofArray(text.getBytes(UTF_8));
    }

    private void peerOpens() throws Exception {
        peer.tell(party ->
                party.keep("receiver", MessageReceiver.open(party.node(), SEGMENT, CAPACITY)));
    }

    private void peerReceives(String text) throws Exception {
        peer.tell(party ->
                assertThat(party.kept("receiver", MessageReceiver.class).receive(SOON))
                        .asString(UTF_8)
                        .isEqualTo(text));
    }

    @Test
    void shouldCarryMessages() throws Exception {
        peerOpens();
        var sender = MessageSender.connect(node, peer.node(), SEGMENT, SOON);

        sender.send(message("Saluton"), SOON);
        sender.send(message(""), SOON);
        sender.send(message("mondo"), SOON);

        peerReceives("Saluton");
        peerReceives("");
        peerReceives("mondo");
    }

    /** Lengths of all kinds, in a ring that they soon fill. */
    @Test
    void shouldLoseTearAndReorderNothing() throws Exception {
        try (var receiver = MessageReceiver.open(node, SEGMENT, CAPACITY)) {
            var here = node.id();
            var sent =
                    peer.start(party -> {
                        try (var sender =
                                MessageSender.connect(party.node(), here, SEGMENT, SOON)) {
                            for (var i = 0; i < MESSAGES; i++) {
                                var length = i * 37 % (sender.maxMessageBytes() + 1);
                                sender.send(MemorySegment.ofArray(Memory.pattern(i, length)), SOON);
                            }
                        }
                        return MESSAGES;
                    });
            var longest = CAPACITY / 2 - 8;
            for (var i = 0; i < MESSAGES; i++) {
                assertThat(receiver.receive(SOON))
                        .as("message %d", i)
                        .isEqualTo(Memory.pattern(i, i * 37 % (longest + 1)));
            }

            assertThat(sent.get()).isEqualTo(MESSAGES);
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> receiver.receive(SOON))
                    .withMessageContaining("is gone");
        }
    }

    @Test
    void shouldHaveNoRoomWhenNobodyTakes() throws Exception {
        peerOpens();
        var sender = MessageSender.connect(node, peer.node(), SEGMENT, SOON);
        var large = MemorySegment.ofArray(new byte[sender.maxMessageBytes()]);
        while (sender.trySend(large)) {
            // until it is full
        }

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> sender.send(large, ofMillis(20)));
        peer.tell(party -> party.kept("receiver", MessageReceiver.class).receive(SOON));

        sender.send(large, SOON);
    }

    @Test
    void shouldCloseTheSenderFirstOnOneThreadWithoutAWait() throws Exception {
        var other = fabric.sisci().open();
        var receiver = MessageReceiver.open(other, SEGMENT, CAPACITY);
        var sender = MessageSender.connect(node, other.id(), SEGMENT, SOON);
        sender.send(message("Saluton"), SOON);
        assertThat(receiver.receive(SOON)).asString(UTF_8).isEqualTo("Saluton");
        receiver.tryReceive((_, _, _) -> {}); // tells the sender, for which it connects
        sender.send(message("the last"), SOON);
        var start = System.nanoTime();

        sender.close();

        assertThat(receiver.receive(SOON)).asString(UTF_8).isEqualTo("the last");
        receiver.close();
        node.close();
        other.close();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE);
    }

    @Test
    void shouldCloseTheReceiverFirstOnOneThreadWithoutAWait() throws Exception {
        for (var received : new int[] {0, 1}) {
            var here = fabric.sisci().open();
            var other = fabric.sisci().open();
            var receiver = MessageReceiver.open(other, SEGMENT, CAPACITY);
            var sender = MessageSender.connect(here, other.id(), SEGMENT, SOON);
            for (var i = 0; i < received; i++) {
                sender.send(message("Saluton"), SOON);
                assertThat(receiver.receive(SOON)).hasSize(7);
                receiver.tryReceive((_, _, _) -> {});
            }
            var start = System.nanoTime();

            receiver.close();
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> sender.send(message("late"), SOON))
                    .withMessageContaining("has closed");
            sender.close();
            here.close();
            other.close();

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE);
        }
    }

    /** Nodes that close what they own, one after the other on one thread. */
    @Test
    void shouldCloseWithItsNodeWithoutAWait() throws Exception {
        for (var senderFirst : new boolean[] {false, true}) {
            var here = fabric.sisci().open();
            var other = fabric.sisci().open();
            var receiver = MessageReceiver.open(other, SEGMENT, CAPACITY);
            var sender = MessageSender.connect(here, other.id(), SEGMENT, SOON);
            sender.send(message("Saluton"), SOON);
            assertThat(receiver.receive(SOON)).hasSize(7);
            receiver.tryReceive((_, _, _) -> {});
            var start = System.nanoTime();

            (senderFirst ? here : other).close();
            (senderFirst ? other : here).close();
            sender.close();
            receiver.close();

            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(AT_ONCE);
        }
    }

    @Test
    void shouldLetNobodyInWhoComesWhileItCloses() throws Exception {
        peerOpens();
        peer.tell(party -> party.kept("receiver", MessageReceiver.class).close());

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> MessageSender.connect(node, peer.node(), SEGMENT, ofMillis(20)));
    }

    @Test
    void shouldTakeOneSenderOnly() throws Exception {
        peerOpens();
        var sender = MessageSender.connect(node, peer.node(), SEGMENT, SOON);

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> MessageSender.connect(node, peer.node(), SEGMENT, SOON))
                .withMessageContaining("has a sender already");

        sender.send(message("Saluton"), SOON);
        peerReceives("Saluton");
    }

    @Test
    void shouldRefuseToSendOnceTheLinkHasFailed() throws Exception {
        var cable = fabric.cable();
        peerOpens();
        var sender = MessageSender.connect(node, peer.node(), SEGMENT, SOON);

        cable.cut();
        cable.mend();

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
    void shouldRefuseToBeUsedAfterItsClose() throws Exception {
        peerOpens();
        var sender = MessageSender.connect(node, peer.node(), SEGMENT, SOON);

        sender.close();
        sender.close();

        assertThatIllegalStateException().isThrownBy(() -> sender.trySend(message("")));
    }
}
