package org.jrdma.soft.sisci.control;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class FabricConnectionsTest {

    private FabricDirectory directory;
    private FabricConnections receiver;
    private FabricConnections sender;
    private final AtomicInteger received = new AtomicInteger();
    private final CountDownLatch lost = new CountDownLatch(1);

    /** Fails for some kinds of messages, and responds to REFRESH. */
    private final class ErringListener implements FabricConnections.Listener {

        @Override
        public void received(Connection from, Message message) {
            received.incrementAndGet();
            switch (message.kind()) {
                case TRIGGER -> {
                    if (received.get() < 3) {
                        throw new OutOfMemoryError("thrown by the listener, on purpose");
                    }
                }
                case TAKEN -> throw new IllegalStateException("thrown by the listener, on purpose");
                case INTERRUPT_GONE ->
                        throw new StackOverflowError("thrown by the listener, on purpose");
                default -> from.respond(message, 0, 5);
            }
        }

        @Override
        public void lost(Connection connection) {
            if (received.incrementAndGet() < 3) {
                throw new OutOfMemoryError("thrown by the listener, on purpose");
            }
            lost.countDown();
        }
    }

    @Test
    void shouldMergeEqualMessagesToAProcessThatDoesNotReceiveThem(@TempDir Path folder)
            throws Exception {
        try (var own = FabricDirectory.open(folder, false);
                var manager = new FabricConnections(own, 4, 0)) {
            manager.start(new ErringListener());
            var stopped = SeqPacketSocket.listen(folder.resolve("8.member.0.0").toString());
            var connection = manager.connect(8, 0).orElseThrow();

            for (var i = 0; i < 10_000; i++) {
                connection.sendOnce(Message.of(Kind.DEVICE_SIGNAL, 1, 2, 0, i % 3));
            }

            assertThat(connection.backlog()).isBetween(1, 3);
            for (var i = 0; i < 10_000; i++) {
                connection.sendOnce(Message.of(Kind.DEVICE_SIGNAL, 1, 2, 0, i));
            }
            assertThat(connection.backlog()).isEqualTo(4096);
            SystemCalls.close(stopped);
        }
    }

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        directory = FabricDirectory.open(folder, false);
        receiver = new FabricConnections(directory, 4, 0);
        receiver.start(new ErringListener());
        sender = new FabricConnections(directory, 8, 0);
        sender.start(new ErringListener());
    }

    @AfterEach
    void close() {
        sender.close();
        receiver.close();
        directory.close();
    }

    @Test
    void shouldRepeatMessagesThatFailForLackOfMemoryAndSurviveOtherFailures() throws Exception {
        var connection = sender.connect(4, 0).orElseThrow();

        connection.trigger(1);
        connection.send(Message.about(Kind.TAKEN, 1));
        connection.send(Message.about(Kind.INTERRUPT_GONE, 1));
        var response = sender.request(connection, Message.about(Kind.REFRESH, 0));

        assertThat(response.orElseThrow().value()).isEqualTo(5);
        assertThat(received).hasValue(3 + 1 + 1 + 1);
    }

    @Test
    void shouldRepeatTheHandlingOfALossThatFailsForLackOfMemory() throws Exception {
        try (var ended = new FabricConnections(directory, 12, 0)) {
            ended.start(new ErringListener());
            var _ = ended.connect(4, 0).orElseThrow();
        }

        lost.await();
        assertThat(received).hasValue(3);
    }

    @Test
    void shouldCloseWhileItRepeatsAMessageThatKeepsFailing() throws Exception {
        var failing = new FabricConnections(directory, 12, 0);
        var failed = new CountDownLatch(2);
        var receiving = new AtomicReference<Thread>();
        var released = new CompletableFuture<Void>();
        failing.start(
                new FabricConnections.Listener() {
                    @Override
                    public void received(Connection from, Message message) {
                        receiving.set(Thread.currentThread());
                        failed.countDown();
                        if (failed.getCount() == 0) {
                            released.join();
                        }
                        throw new OutOfMemoryError("thrown by the listener, on purpose");
                    }

                    @Override
                    public void lost(Connection connection) {}
                });
        sender.connect(12, 0).orElseThrow().trigger(1);
        failed.await();

        var closing = Thread.ofPlatform().daemon().start(failing::close);

        assertThat(closing.join(Duration.ofMillis(100))).as("close() waits").isFalse();
        released.complete(null);
        assertThat(closing.join(Duration.ofSeconds(10))).as("close() returned").isTrue();
        assertThat(receiving.get().isAlive()).as("the receiving thread lives").isFalse();
    }

    @Test
    void shouldConnectToAProcessWhileTheBacklogOfAnotherOneIsFull() throws Exception {
        var path = directory.path(ObjectAnnouncementFile.ofMember(12, 0));
        var full = SeqPacketSocket.listen(path);
        limitBacklogToOne(full);
        var pending = SeqPacketSocket.connect(path);
        var attempt = new FutureTask<>(() -> sender.connect(12, 0));
        var thread = Thread.ofPlatform().daemon().start(attempt);
        while (thread.isAlive() && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }

        assertThat(sender.connect(4, 0)).isPresent();

        // The attempt is repeated, and succeeds when the backlog has a free slot.
        var accepted = SeqPacketSocket.accept(full);
        assertThat(attempt.get()).isPresent();
        SystemCalls.close(accepted);
        SystemCalls.close(pending);
        SystemCalls.close(full);
    }

    private static void limitBacklogToOne(int socket) {
        var listen = Linker.nativeLinker().defaultLookup().findOrThrow("listen");
        var function = Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
        try {
            assertThat((int) function.invokeExact(listen, socket, 0)).isZero();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Another process could guess the number of a request. */
    @Test
    void shouldIgnoreTheResponseOfAnotherProcess() throws Exception {
        try (var third = new FabricConnections(directory, 12, 0)) {
            third.start(new ErringListener());
            var toSender = third.connect(8, 0).orElseThrow();
            var connection = sender.connect(4, 0).orElseThrow();
            for (var i = 0; i < 100; i++) {
                toSender.send(Message.of(Kind.RESPONSE, 0, 0, 0, 666).numbered(i));
            }

            for (var i = 0; i < 50; i++) {
                var response = sender.request(connection, Message.about(Kind.REFRESH, 0));

                assertThat(response.orElseThrow().value()).isEqualTo(5);
            }
        }
    }

    @Tag("slow")
    @Test
    void shouldNotWaitLongerForAResponseBecauseOfInterrupts() throws Exception {
        var connection = sender.connect(4, 0).orElseThrow();
        var waiting = Thread.currentThread();
        var hasEnded = new CountDownLatch(1);
        var interrupter =
                Thread.ofVirtual()
                        .start(() -> {
                            try {
                                for (var i = 0; i < 60 && !hasEnded.await(1, SECONDS); i++) {
                                    waiting.interrupt();
                                }
                            } catch (InterruptedException e) {
                                // The wait has ended.
                            }
                        });
        var start = System.nanoTime();

        var response = sender.request(connection, Message.about(Kind.INTERRUPT_GONE, 1));

        var nanos = System.nanoTime() - start;
        hasEnded.countDown();
        assertThat(Thread.interrupted()).isTrue();
        interrupter.join();
        assertThat(response).isEmpty();
        assertThat(nanos).isLessThan(SECONDS.toNanos(30));
    }
}
