package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.cm.ConnectionOptions;
import org.jrdma.verbs.model.Completion;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that waiting virtual threads release their carrier threads. The scheduler has only two
 * carriers. If each waiting thread occupied a carrier, a third thread would never start. If one
 * waiting thread occupied a carrier, two other threads could not run at the same time.
 */
class VirtualThreadTest {

    private static final int WAITERS = 2_000;
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final Duration SHORT = Duration.ofSeconds(20);

    @BeforeEach
    void needTwoCarriers() {
        Assumptions.assumeTrue(
                "2".equals(System.getProperty("jdk.virtualThreadScheduler.parallelism"))
                        && "2".equals(System.getProperty("jdk.virtualThreadScheduler.maxPoolSize")),
                "The test needs -Djdk.virtualThreadScheduler.parallelism=2 and maxPoolSize=2.");
    }

    @Test
    void shouldLetThousandsWaitForCompletionsWhileOtherThreadsRun() throws Exception {
        try (var pair = AsyncPair.connected(WAITERS)) {
            var waiting = new CountDownLatch(WAITERS);
            var received = new AtomicInteger();
            var transfers = new ArrayList<CompletableFuture<Completion>>();
            for (var number = 0; number < WAITERS; number++) {
                var place = number * 8L;
                transfers.add(
                        BackgroundCalls.call(
                                Thread.ofVirtual(),
                                () -> {
                                    var transfer =
                                            pair.right().receive(pair.there().slice(place, 8));
                                    waiting.countDown();
                                    var completion = transfer.await(LONG);
                                    received.incrementAndGet();
                                    return completion;
                                }));
            }
            assertThat(waiting.await(60, TimeUnit.SECONDS))
                    .as("all threads wait; %d do not", waiting.getCount())
                    .isTrue();
            assertThat(received).hasValue(0);

            assertBothCarriersAreFree();
            assertThat(received).hasValue(0);

            sendAll(pair);
            for (var transfer : transfers) {
                transfer.get(60, TimeUnit.SECONDS);
            }
            assertThat(received).hasValue(WAITERS);
        }
    }

    /** Starts two virtual threads that spin until both of them run at the same time. */
    private static void assertBothCarriersAreFree() throws Exception {
        var running = new AtomicInteger();
        var gaveUp = new AtomicBoolean();
        var bothRan = new CountDownLatch(2);
        for (var number = 0; number < 2; number++) {
            Thread.ofVirtual()
                    .start(() -> {
                        running.incrementAndGet();
                        while (running.get() < 2 && !gaveUp.get()) {
                            Thread.onSpinWait();
                        }
                        bothRan.countDown();
                    });
        }
        var together = bothRan.await(30, TimeUnit.SECONDS);
        gaveUp.set(true);
        assertThat(together).as("two carriers are free").isTrue();
    }

    @Test
    void shouldReleaseTheCarrierWhileWaitingForSlots() throws Exception {
        try (var pair = AsyncPair.connected(1, LONG)) {
            pair.right().receive(pair.there().slice(0, 8));
            var waiting = new CountDownLatch(4);
            var received = new CountDownLatch(4);
            for (var number = 0; number < 4; number++) {
                Thread.ofVirtual()
                        .start(() -> {
                            waiting.countDown();
                            try {
                                pair.right().receive(pair.there().slice(0, 8)).await(LONG);
                                received.countDown();
                            } catch (Exception e) {
                                // A failed receive does not count as received.
                            }
                        });
            }
            assertThat(waiting.await(20, TimeUnit.SECONDS)).as("all four wait").isTrue();

            assertBothCarriersAreFree();

            assertThat(received.getCount()).isEqualTo(4);
            for (var number = 0; number < 5; number++) {
                pair.left().send(pair.here().slice(0, 8)).await(LONG);
            }
            assertThat(received.await(20, TimeUnit.SECONDS)).as("all four received").isTrue();
        }
    }

    private static void sendAll(AsyncPair pair) throws Exception {
        var sent = new ArrayList<Transfer>();
        for (var number = 0; number < WAITERS; number++) {
            sent.add(pair.left().send(pair.here().slice(0, 8)));
        }
        for (var transfer : sent) {
            transfer.await(LONG);
        }
    }

    @Test
    void shouldReleaseTheCarrierWhileWaitingForEventsOfDevicesAndQueues() throws Exception {
        Fabric.underTest().needs(Feature.COMPLETION_EVENTS);
        var device = Fabric.underTest().open();
        var ended = new CountDownLatch(8);
        try {
            var waiting = new CountDownLatch(8);
            for (var number = 0; number < 4; number++) {
                var completions =
                        device.newCompletionQueue(CompletionQueueOptions.capacity(4).waitable());
                for (Wait wait :
                        List.<Wait>of(
                                () -> device.nextEvent(LONG),
                                () -> {
                                    try (var cursor = completions.newCursor(4)) {
                                        cursor.await(LONG);
                                    }
                                })) {
                    Thread.ofVirtual()
                            .start(() -> {
                                waiting.countDown();
                                try {
                                    wait.run();
                                } catch (Exception e) {
                                    ended.countDown();
                                }
                            });
                }
            }
            assertThat(waiting.await(20, TimeUnit.SECONDS)).as("all eight wait").isTrue();

            assertBothCarriersAreFree();

            assertThat(ended.getCount()).isEqualTo(8);
        } finally {
            device.close();
        }
        assertThat(ended.await(20, TimeUnit.SECONDS)).as("all eight are woken").isTrue();
    }

    @Test
    void shouldReleaseTheCarrierWhileWaitingForPeers() throws Exception {
        var fabric = Fabric.underTest();
        var connections = fabric.connections();
        var device = fabric.open();
        var address = Fabric.address(device);
        var silent = connections.listen(new InetSocketAddress(address, 0));
        var idle = connections.listen(new InetSocketAddress(address, 0));
        var channel = connections.newEventChannel();
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionDispatcher(256);
        var options =
                ConnectionOptions.of(QueuePairOptions.reliable(completions).sends(1).receives(1));
        var waits = new ArrayList<Wait>();
        for (var number = 0; number < WAITERS; number++) {
            waits.add(() -> idle.next(LONG));
        }
        for (var number = 0; number < 8; number++) {
            waits.add(() -> connections.connect(silent.localAddress(), domain, options, LONG));
            waits.add(() -> channel.next(LONG));
        }
        var ended = new CountDownLatch(waits.size());
        try {
            var waiting = new CountDownLatch(waits.size());
            for (var wait : waits) {
                Thread.ofVirtual()
                        .start(() -> {
                            waiting.countDown();
                            try {
                                wait.run();
                            } catch (Exception e) {
                                ended.countDown();
                            }
                        });
            }
            assertThat(waiting.await(60, TimeUnit.SECONDS)).as("all wait").isTrue();

            assertBothCarriersAreFree();

            assertThat(ended.getCount()).isEqualTo(waits.size());
        } finally {
            idle.close();
            silent.close();
            channel.close();
            assertThat(ended.await(60, TimeUnit.SECONDS)).as("all are woken").isTrue();
            device.close();
        }
    }

    /**
     * The SDK must answer a disconnect even if busy virtual threads of the program occupy all
     * carriers.
     */
    @Test
    void shouldAnswerADisconnectWhileNoCarrierIsFree() throws Exception {
        var fabric = Fabric.underTest();
        var connections = fabric.connections();
        var stop = new AtomicBoolean();
        var running = new CountDownLatch(2);
        try (var device = fabric.open();
                var listener =
                        connections.listen(new InetSocketAddress(Fabric.address(device), 0))) {
            var domain = device.newProtectionDomain();
            var completions = device.newCompletionDispatcher(64);
            var options =
                    ConnectionOptions.of(
                            QueuePairOptions.reliable(completions).sends(1).receives(1));
            var connecting =
                    BackgroundCalls.call(
                            Thread.ofPlatform(),
                            () ->
                                    connections.connect(
                                            listener.localAddress(), domain, options, SHORT));
            try (var there = listener.accept(domain, options, SHORT);
                    var here = connecting.get(20, TimeUnit.SECONDS)) {
                for (var number = 0; number < 2; number++) {
                    Thread.ofVirtual()
                            .start(() -> {
                                running.countDown();
                                while (!stop.get()) {
                                    Thread.onSpinWait();
                                }
                            });
                }
                assertThat(running.await(20, TimeUnit.SECONDS)).isTrue();

                here.disconnect(SHORT);

                there.awaitDisconnected(SHORT);
            } finally {
                stop.set(true);
            }
        }
    }

    /** A call that waits. */
    @FunctionalInterface
    private interface Wait {
        void run() throws Exception;
    }
}
