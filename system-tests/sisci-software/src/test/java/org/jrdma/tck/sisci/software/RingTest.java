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
import org.jrdma.sisci.MessageSender;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A great many messages through the ring. */
@Timeout(180)
class RingTest {

    private static final Duration SOON = ofSeconds(20);
    private static final int HERE = 4;
    private static final int THERE = 8;
    private static final int SEGMENT = 7;
    private static final int MOST_WORDS = 8;
    private static final int MANY = 300_000;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

    private static SoftSisci library(Path folder, int node, boolean weak) {
        return new SoftSisci(
                SoftSisciOptions.in(folder)
                        .asNode(node)
                        .withFaults(FaultOptions.NONE.withWeakMemory(weak)));
    }

    private static int words(long message) {
        return 1 + (int) (message % MOST_WORDS);
    }

    private static long word(long message, int place) {
        return (message << 8 | place) * 0x9E37_79B9_7F4A_7C15L;
    }

    private static long send(Node node, int peer, int messages, AtomicBoolean goOn)
            throws IOException {
        try (var arena = Arena.ofConfined();
                var sender = MessageSender.connect(node, peer, SEGMENT, SOON)) {
            var memory = arena.allocate(MOST_WORDS * WORD.byteSize(), WORD.byteSize());
            for (var message = 0L; message < messages && goOn.get(); message++) {
                for (var place = 0; place < words(message); place++) {
                    memory.setAtIndex(WORD, place, word(message, place));
                }
                sender.send(memory.asSlice(0, words(message) * WORD.byteSize()), SOON);
            }
        }
        return messages;
    }

    /** Wants each message whole, and after the one before it. */
    private static final class Expected implements MessageReceiver.Handler {

        private long message;

        @Override
        public void message(MemorySegment memory, long offset, int bytes) {
            var isRight = bytes == words(message) * WORD.byteSize();
            for (var place = 0; isRight && place < words(message); place++) {
                isRight =
                        memory.get(WORD, offset + place * WORD.byteSize()) == word(message, place);
            }
            if (!isRight) {
                throw new AssertionError("message %d is another, or torn".formatted(message));
            }
            message++;
        }
    }

    private static void receive(MessageReceiver receiver, int messages) throws IOException {
        var expected = new Expected();
        var end = System.nanoTime() + SOON.toNanos();
        while (expected.message < messages) {
            if (receiver.tryReceive(expected)) {
                end = System.nanoTime() + SOON.toNanos();
            } else {
                assertThat(System.nanoTime()).as("%d came", expected.message).isLessThan(end);
                Thread.onSpinWait();
            }
        }
    }

    /** Fewer in weak memory, where each flush takes microseconds. */
    @ParameterizedTest
    @CsvSource({"false, 1000000", "true, 100000"})
    void shouldLoseTearAndReorderNothingBetweenTwoProcesses(boolean weak, int messages)
            throws Exception {
        var folder = Jvm.fabricFolder();
        try (var peer = Jvm.peer(folder, THERE, weak);
                var node = Sisci.from(library(folder, HERE, weak)).open();
                var receiver = MessageReceiver.open(node, SEGMENT, 2048)) {
            var sent =
                    peer.start(
                            party -> send(party.node(), HERE, messages, new AtomicBoolean(true)));

            receive(receiver, messages);

            assertThat(sent.get()).isEqualTo(messages);
            assertThat(receiver.tryReceive((_, _, _) -> {})).isFalse();
        }
    }

    /** Shows that the test above would find it. */
    @Test
    void shouldTearMessagesWithoutTheFlushBeforeTheyAreAnnounced() throws Exception {
        var folder = Jvm.fabricFolder();
        try (var from = Sisci.from(new LazyFlush(library(folder, THERE, true))).open();
                var to = Sisci.from(library(folder, HERE, true)).open()) {
            var receiver = MessageReceiver.open(to, SEGMENT, 32 << 10);
            var goOn = new AtomicBoolean(true);
            var sending =
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    send(from, HERE, MANY, goOn);
                                } catch (IOException e) {
                                    assertThat(e).hasMessageContaining("has closed");
                                }
                            });

            assertThatExceptionOfType(Throwable.class)
                    .isThrownBy(() -> receive(receiver, MANY))
                    .withMessageMatching(
                            "message .* is another, or torn|The messages in .* are lost.*");

            goOn.set(false);
            receiver.close(); // or the sender may wait for room
            sending.join();
        }
    }
}
