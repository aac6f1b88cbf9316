package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.SisciAssertions.assertFails;

import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.InterruptOptions;
import org.jrdma.sisci.LocalDataInterrupt;
import org.jrdma.sisci.LocalInterrupt;
import org.jrdma.sisci.RemoteDataInterrupt;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.Test;

/** Tests interrupts and data interrupts between nodes. */
class InterruptTest extends AbstractMultiNodeTest {

    private static final int NUMBER = 30;
    private static final int TRIGGERS = 500;

    /** More triggers than the event queue can contain different events. */
    private static final int MANY_TRIGGERS = 80_000;

    /** More messages of 4 KiB than the event queue can contain. */
    private static final int MANY_MESSAGES = 5_000;

    /** Makes the peer connect to an interrupt of this node. */
    private void connectPeer(int number) throws Exception {
        var localNode = node.id();
        peer.run(context ->
                context.put("remote", context.node().connectInterrupt(localNode, number, TIMEOUT)));
    }

    private void trigger(int times) throws Exception {
        peer.run(context -> {
            for (var i = 0; i < times; i++) {
                context.get("remote", RemoteInterrupt.class).trigger();
            }
        });
    }

    private void connectPeerForData(int number) throws Exception {
        var localNode = node.id();
        peer.run(context ->
                context.put(
                        "remote", context.node().connectDataInterrupt(localNode, number, TIMEOUT)));
    }

    private void send(byte[] message) throws Exception {
        peer.run(context ->
                context.get("remote", RemoteDataInterrupt.class).trigger(message, TIMEOUT));
    }

    @Test
    void shouldReceiveATriggerOfAnotherNode() throws Exception {
        var interrupt = node.newInterrupt();
        connectPeer(interrupt.number());

        trigger(1);

        interrupt.await(TIMEOUT);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(ofMillis(20)))
                .withMessageStartingWith("No trigger of " + interrupt);
    }

    @Test
    void shouldWakeUpAWaitingThread() throws Exception {
        var interrupt = node.newInterrupt();
        connectPeer(interrupt.number());
        var woken =
                CompletableFuture.runAsync(() -> {
                    try {
                        interrupt.await(TIMEOUT);
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });

        trigger(1);

        woken.get(10, TimeUnit.SECONDS);
    }

    @Test
    void shouldWakeUpAThreadThatWaitsInTheLibrary() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asAwaited());
        connectPeer(interrupt.number());
        for (var builder : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
            var woken = new CompletableFuture<Boolean>();
            builder.start(() -> {
                try {
                    interrupt.await(TIMEOUT);
                    woken.complete(true);
                } catch (Exception e) {
                    woken.completeExceptionally(e);
                }
            });
            Thread.sleep(20);

            trigger(1);

            assertThat(woken.get(10, TimeUnit.SECONDS)).isTrue();
        }
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(ofMillis(20)));
    }

    @Test
    void shouldKeepATriggerUntilAThreadWaitsInTheLibrary() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asAwaited());
        connectPeer(interrupt.number());

        trigger(MANY_TRIGGERS);

        interrupt.await(TIMEOUT);
    }

    @Test
    void shouldReportEachTriggerToThreadsThatWaitInTheLibraryIfCounting() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asAwaited().asCounting());
        connectPeer(interrupt.number());

        trigger(TRIGGERS);

        for (var i = 0; i < TRIGGERS; i++) {
            interrupt.await(TIMEOUT);
        }
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(ofMillis(20)));
    }

    @Test
    void shouldTriggerAllInterruptsThatShareANumberAndWaitInTheLibrary() throws Exception {
        var options = InterruptOptions.number(NUMBER).asShared().asAwaited();
        var first = node.newInterrupt(options);
        var second = node.newInterrupt(options);
        connectPeer(NUMBER);

        trigger(1);

        first.await(TIMEOUT);
        second.await(TIMEOUT);
    }

    @Test
    void shouldEndAWaitInTheLibraryOnAThreadInterruptAndOnClose() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asAwaited());
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> interrupt.await(TIMEOUT));
        assertThat(Thread.interrupted()).isTrue();
        var failure = new CompletableFuture<Throwable>();
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    try {
                        interrupt.await(TIMEOUT);
                    } catch (Exception e) {
                        failure.complete(e);
                    }
                });
        Thread.sleep(20);

        interrupt.close();

        assertThat(failure.get(10, TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(interrupt + " is closed");
    }

    @Test
    void shouldReportEachTriggerIfCounting() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asCounting());
        connectPeer(interrupt.number());

        trigger(TRIGGERS);

        for (var i = 0; i < TRIGGERS; i++) {
            interrupt.await(TIMEOUT);
        }
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(ofMillis(20)));
    }

    @Test
    void shouldCountTriggersThatNoThreadHasAwaited() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asCounting());
        connectPeer(interrupt.number());

        trigger(MANY_TRIGGERS);

        for (var i = 0; i < MANY_TRIGGERS; i++) {
            interrupt.await(TIMEOUT);
        }
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(ofMillis(20)));
    }

    @Test
    void shouldReportTheNumberOfLostMessagesAndContinueWithTheRest() throws Exception {
        var interrupt = node.newDataInterrupt();
        var localNode = node.id();
        var number = interrupt.number();
        peer.run(context -> {
            var remote = context.node().connectDataInterrupt(localNode, number, TIMEOUT);
            for (var i = 0; i < MANY_MESSAGES; i++) {
                remote.trigger(ByteBuffer.allocate(4096).putInt(i).array(), TIMEOUT);
            }
        });

        var next = 0;
        var lost = 0;
        while (next < MANY_MESSAGES) {
            try {
                assertThat(ByteBuffer.wrap(interrupt.receive(TIMEOUT)).getInt()).isEqualTo(next);
                next++;
            } catch (FabricException e) {
                assertThat(e)
                        .hasMessageEndingWith(
                                "events of %s were lost: they were not taken in time", interrupt);
                var more = Integer.parseInt(e.getMessage().split(" ", 2)[0].replaceAll("\\D", ""));
                lost += more;
                next += more;
            }
        }
        assertThat(lost).isPositive();
    }

    @Test
    void shouldUseTheRequestedNumberUnlessItIsTaken() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.number(NUMBER));

        assertThat(interrupt.number()).isEqualTo(NUMBER);
        assertFails(
                SisciError.INTERRUPT_NUMBER_USED,
                () -> node.newInterrupt(InterruptOptions.number(NUMBER)));
        assertFails(
                SisciError.INTERRUPT_NUMBER_USED,
                () ->
                        fabric.sameNodePeer()
                                .run(context ->
                                        context.node()
                                                .newInterrupt(InterruptOptions.number(NUMBER))));
        interrupt.close();
        node.newInterrupt(InterruptOptions.number(NUMBER)).close();
    }

    @Test
    void shouldTriggerAllInterruptsThatShareANumber() throws Exception {
        var options = InterruptOptions.number(NUMBER).asShared();
        var first = node.newInterrupt(options);
        var second = node.newInterrupt(options);
        connectPeer(NUMBER);

        trigger(1);

        first.await(TIMEOUT);
        second.await(TIMEOUT);
    }

    @Test
    void shouldCallAListenerOnAVirtualThreadAndAllowItToClose() throws Exception {
        var interrupt = node.newInterrupt();
        var thread = new CompletableFuture<Thread>();
        interrupt.onTrigger(() -> {
            interrupt.close();
            thread.complete(Thread.currentThread());
        });
        connectPeer(interrupt.number());

        trigger(1);

        assertThat(thread.get(10, TimeUnit.SECONDS).isVirtual()).isTrue();
        assertThat(interrupt.isOpen()).isFalse();
    }

    @Test
    void shouldCallTheListenerForEachTriggerIfCounting() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asCounting());
        var all = new CountDownLatch(TRIGGERS);
        var count = new AtomicInteger();
        interrupt.onTrigger(() -> {
            count.incrementAndGet();
            all.countDown();
            if (count.get() == 1) {
                throw new IllegalStateException("thrown by the listener, on purpose");
            }
        });
        connectPeer(interrupt.number());

        trigger(TRIGGERS);

        assertThat(all.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(count).hasValue(TRIGGERS);
    }

    @Test
    void shouldEndAWaitOnAThreadInterruptAndOnClose() throws Exception {
        var interrupt = node.newInterrupt();
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> interrupt.await(TIMEOUT));
        assertThat(Thread.interrupted()).isTrue();
        var failure = new CompletableFuture<Throwable>();
        Thread.startVirtualThread(() -> {
            try {
                interrupt.await(TIMEOUT);
            } catch (Exception e) {
                failure.complete(e);
            }
        });
        Thread.sleep(20);

        interrupt.close();

        assertThat(failure.get(10, TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(interrupt + " is closed");
    }

    @Test
    void shouldFailToTriggerAnInterruptThatWasRemoved() throws Exception {
        var interrupt = node.newInterrupt();
        connectPeer(interrupt.number());

        interrupt.close();

        eventually(() -> {
            try {
                trigger(1);
                return false;
            } catch (SisciException e) {
                return true;
            }
        });
    }

    @Test
    void shouldTriggerAnInterruptOfTheSameNode() throws Exception {
        var interrupt = node.newInterrupt();
        try (var remote = node.connectInterrupt(node.id(), interrupt.number(), TIMEOUT)) {
            remote.trigger();
            interrupt.await(TIMEOUT);
        }
    }

    @Test
    void shouldDeliverMessagesInOrder() throws Exception {
        var interrupt = node.newDataInterrupt();
        connectPeerForData(interrupt.number());

        for (var length : new int[] {1, 0, 64, 7}) {
            send(TestPattern.pattern(length, length));
        }

        for (var length : new int[] {1, 0, 64, 7}) {
            assertThat(interrupt.receive(TIMEOUT)).isEqualTo(TestPattern.pattern(length, length));
        }
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.receive(ofMillis(20)))
                .withMessageStartingWith("No message for " + interrupt);
    }

    @Test
    void shouldPassMessagesToTheListenerInOrder() throws Exception {
        var interrupt = node.newDataInterrupt(InterruptOptions.number(NUMBER));
        assertThat(interrupt.number()).isEqualTo(NUMBER);
        var received = new ArrayList<Byte>();
        var all = new CountDownLatch(100);
        interrupt.onMessage(message -> {
            received.add(message[0]);
            all.countDown();
        });
        connectPeerForData(NUMBER);

        for (var i = 0; i < 100; i++) {
            send(new byte[] {(byte) i});
        }

        assertThat(all.await(10, TimeUnit.SECONDS)).isTrue();
        for (var i = 0; i < 100; i++) {
            assertThat(received.get(i)).isEqualTo((byte) i);
        }
    }

    /** Interrupts and data interrupts are numbered separately. */
    @Test
    void shouldRejectAConnectionToTheOtherKindOfInterrupt() throws Exception {
        var plain = node.newInterrupt(InterruptOptions.number(NUMBER));
        var withData = node.newDataInterrupt(InterruptOptions.number(NUMBER));
        connectPeerForData(NUMBER);

        send(new byte[] {5});

        assertThat(withData.receive(TIMEOUT)).containsExactly(5);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> plain.await(ofMillis(20)));
    }

    @Test
    void shouldRejectInvalidArguments() throws Exception {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.newDataInterrupt(InterruptOptions.ANY.asCounting()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.newDataInterrupt(InterruptOptions.ANY.asShared()));
        var interrupt = node.newDataInterrupt();
        connectPeerForData(interrupt.number());
        assertThatExceptionOfType(SisciException.class).isThrownBy(() -> send(new byte[1 << 20]));
    }

    @Test
    void shouldRejectUseAfterClose() throws Exception {
        LocalInterrupt plain = node.newInterrupt();
        LocalDataInterrupt withData = node.newDataInterrupt();
        var toPlain = node.connectInterrupt(node.id(), plain.number(), TIMEOUT);
        var toData = node.connectDataInterrupt(node.id(), withData.number(), TIMEOUT);

        for (var object : new AutoCloseable[] {toPlain, toData, plain, withData}) {
            object.close();
            object.close();
        }

        assertThatIllegalStateException().isThrownBy(() -> plain.await(TIMEOUT));
        assertThatIllegalStateException().isThrownBy(() -> withData.receive(TIMEOUT));
        assertThatIllegalStateException().isThrownBy(toPlain::trigger);
        assertThatIllegalStateException().isThrownBy(() -> toData.trigger(new byte[1]));
    }
}
