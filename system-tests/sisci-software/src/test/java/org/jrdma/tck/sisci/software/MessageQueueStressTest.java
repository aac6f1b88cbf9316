package org.jrdma.tck.sisci.software;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.sisci.MessageReceiver;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stress tests of message queues with many messages. */
@Timeout(180)
class MessageQueueStressTest {

    private static final Duration TIMEOUT = ofSeconds(20);
    private static final int RECEIVER_NODE = 4;
    private static final int SENDER_NODE = 8;
    private static final int SEGMENT = 7;
    private static final int MAX_WORDS = 8;
    private static final int MANY = 300_000;
    private static final int SHARE = Boolean.getBoolean("jrdma.test.quick") ? 5 : 1;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

    private static SoftSisci library(Path folder, int node, boolean weak) {
        return new SoftSisci(
                SoftSisciOptions.in(folder).node(node).faults(FaultOptions.NONE.weakMemory(weak)));
    }

    private static int words(long message) {
        return 1 + (int) (message % MAX_WORDS);
    }

    private static long word(long message, int place) {
        return (message << 8 | place) * 0x9E37_79B9_7F4A_7C15L;
    }

    private static long send(Node node, int peer, int messages, AtomicBoolean running)
            throws IOException {
        try (var arena = Arena.ofConfined();
                var sender = node.connectMessageQueue(peer, SEGMENT, TIMEOUT)) {
            var memory = arena.allocate(MAX_WORDS * WORD.byteSize(), WORD.byteSize());
            for (var message = 0L; message < messages && running.get(); message++) {
                for (var place = 0; place < words(message); place++) {
                    memory.setAtIndex(WORD, place, word(message, place));
                }
                sender.send(memory.asSlice(0, words(message) * WORD.byteSize()), TIMEOUT);
            }
        }
        return messages;
    }

    /** Checks that messages arrive whole and in order. */
    private static final class Expected implements MessageReceiver.Handler {

        private long message;

        @Override
        public void message(MemorySegment memory, long offset, int bytes) {
            var isExpected = bytes == words(message) * WORD.byteSize();
            for (var place = 0; isExpected && place < words(message); place++) {
                isExpected =
                        memory.get(WORD, offset + place * WORD.byteSize()) == word(message, place);
            }
            if (!isExpected) {
                throw new AssertionError("message %d is out of order or torn".formatted(message));
            }
            message++;
        }
    }

    private static void receive(MessageReceiver receiver, int messages) throws IOException {
        var expected = new Expected();
        var end = System.nanoTime() + TIMEOUT.toNanos();
        while (expected.message < messages) {
            if (receiver.tryReceive(expected)) {
                end = System.nanoTime() + TIMEOUT.toNanos();
            } else {
                assertThat(System.nanoTime())
                        .as("%d messages received", expected.message)
                        .isLessThan(end);
                Thread.onSpinWait();
            }
        }
    }

    /** With weak memory, the test sends fewer messages, because each flush takes microseconds. */
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"false, 1000000", "true, 100000"})
    void shouldNotLoseTearOrReorderMessagesBetweenTwoProcesses(boolean weak, int messages)
            throws Exception {
        var count = messages / SHARE;
        var folder = FabricProcesses.fabricFolder();
        try (var peer = FabricProcesses.peer(folder, SENDER_NODE, weak);
                var node = Sisci.from(library(folder, RECEIVER_NODE, weak)).open();
                var receiver = node.newMessageQueue(SEGMENT, 2048)) {
            var sent =
                    peer.submit(context ->
                            send(context.node(), RECEIVER_NODE, count, new AtomicBoolean(true)));

            receive(receiver, count);

            assertThat(sent.get()).isEqualTo(count);
            assertThat(receiver.tryReceive((_, _, _) -> {})).isFalse();
        }
    }

    /** Shows that the checks of these tests detect a missing flush. */
    @Test
    void shouldTearMessagesWithoutAFlushBeforeTheAnnouncement() throws Exception {
        var folder = FabricProcesses.fabricFolder();
        try (var from =
                        Sisci.from(new FlushSkippingLibrary(library(folder, SENDER_NODE, true)))
                                .open();
                var to = Sisci.from(library(folder, RECEIVER_NODE, true)).open()) {
            var receiver = to.newMessageQueue(SEGMENT, 32 << 10);
            var running = new AtomicBoolean(true);
            var sending =
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    send(from, RECEIVER_NODE, MANY, running);
                                } catch (IOException e) {
                                    assertThat(e).hasMessageContaining("has closed");
                                }
                            });

            assertThatExceptionOfType(Throwable.class)
                    .isThrownBy(() -> receive(receiver, MANY))
                    .withMessageMatching(
                            "message .* is out of order or torn|The message queue in .* is"
                                    + " corrupt.*");

            running.set(false);
            receiver.close(); // otherwise the sender may wait for free space
            sending.join();
        }
    }
}
