package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.Refusals.refuses;

import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.DataInterrupt;
import org.jrdma.sisci.Interrupt;
import org.jrdma.sisci.InterruptOptions;
import org.jrdma.sisci.RemoteDataInterrupt;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.Test;

/** Interrupts from node to node, with data and without. */
class InterruptTest extends NodesTest {

    private static final int NUMBER = 30;
    private static final int TRIGGERS = 500;
    private static final int MANY_TRIGGERS = 80_000; // more than are kept one by one

    /** Of 4 KiB each, more than are kept. */
    private static final int MANY_MESSAGES = 5_000;

    /** The peer connects to an interrupt of this node. */
    private void meet(int number) throws Exception {
        var here = node.id();
        peer.tell(party -> party.keep("remote", party.node().connectInterrupt(here, number, SOON)));
    }

    private void trigger(int times) throws Exception {
        peer.tell(party -> {
            for (var i = 0; i < times; i++) {
                party.kept("remote", RemoteInterrupt.class).trigger();
            }
        });
    }

    private void meetForData(int number) throws Exception {
        var here = node.id();
        peer.tell(party ->
                party.keep("remote", party.node().connectDataInterrupt(here, number, SOON)));
    }

    private void send(byte[] message) throws Exception {
        peer.tell(party -> party.kept("remote", RemoteDataInterrupt.class).trigger(message, SOON));
    }

    @Test
    void shouldBeTriggeredByAnotherNode() throws Exception {
        var interrupt = node.newInterrupt();
        meet(interrupt.number());

        trigger(1);

        interrupt.await(SOON);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(ofMillis(20)))
                .withMessageStartingWith("Nobody triggered " + interrupt);
    }

    @Test
    void shouldWakeWhoIsWaiting() throws Exception {
        var interrupt = node.newInterrupt();
        meet(interrupt.number());
        var woken =
                CompletableFuture.runAsync(() -> {
                    try {
                        interrupt.await(SOON);
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });

        trigger(1);

        woken.get(10, TimeUnit.SECONDS);
    }

    @Test
    void shouldCountEachTriggerIfAskedTo() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asCounting());
        meet(interrupt.number());

        trigger(TRIGGERS);

        for (var i = 0; i < TRIGGERS; i++) {
            interrupt.await(SOON);
        }
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(ofMillis(20)));
    }

    @Test
    void shouldCountMoreTriggersThanAnyoneTakes() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asCounting());
        meet(interrupt.number());

        trigger(MANY_TRIGGERS);

        for (var i = 0; i < MANY_TRIGGERS; i++) {
            interrupt.await(SOON);
        }
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.await(ofMillis(20)));
    }

    @Test
    void shouldSayHowManyMessagesAreLostThatNobodyTookAndGoOnWithTheRest() throws Exception {
        var interrupt = node.newDataInterrupt();
        var here = node.id();
        var number = interrupt.number();
        peer.tell(party -> {
            var remote = party.node().connectDataInterrupt(here, number, SOON);
            for (var i = 0; i < MANY_MESSAGES; i++) {
                remote.trigger(ByteBuffer.allocate(4096).putInt(i).array(), SOON);
            }
        });

        var next = 0;
        var lost = 0;
        while (next < MANY_MESSAGES) {
            try {
                assertThat(ByteBuffer.wrap(interrupt.receive(SOON)).getInt()).isEqualTo(next);
                next++;
            } catch (FabricException e) {
                assertThat(e)
                        .hasMessageEndingWith("events of %s are lost: nobody took them", interrupt);
                var more = Integer.parseInt(e.getMessage().split(" ", 2)[0].replaceAll("\\D", ""));
                lost += more;
                next += more;
            }
        }
        assertThat(lost).isPositive();
    }

    @Test
    void shouldHaveTheNumberThatWasAskedForUnlessItIsTaken() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.number(NUMBER));

        assertThat(interrupt.number()).isEqualTo(NUMBER);
        refuses(
                SisciError.INTERRUPT_NUMBER_USED,
                () -> node.newInterrupt(InterruptOptions.number(NUMBER)));
        refuses(
                SisciError.INTERRUPT_NUMBER_USED,
                () ->
                        fabric.colleague()
                                .tell(party ->
                                        party.node()
                                                .newInterrupt(InterruptOptions.number(NUMBER))));
        interrupt.close();
        node.newInterrupt(InterruptOptions.number(NUMBER)).close();
    }

    @Test
    void shouldShareANumberIfAskedTo() throws Exception {
        var options = InterruptOptions.number(NUMBER).asShared();
        var first = node.newInterrupt(options);
        var second = node.newInterrupt(options);
        meet(NUMBER);

        trigger(1);

        first.await(SOON);
        second.await(SOON);
    }

    @Test
    void shouldCallAListenerOnAVirtualThreadWhichMayCloseIt() throws Exception {
        var interrupt = node.newInterrupt();
        var thread = new CompletableFuture<Thread>();
        interrupt.onTrigger(() -> {
            interrupt.close();
            thread.complete(Thread.currentThread());
        });
        meet(interrupt.number());

        trigger(1);

        assertThat(thread.get(10, TimeUnit.SECONDS).isVirtual()).isTrue();
        assertThat(interrupt.isOpen()).isFalse();
    }

    @Test
    void shouldTellTheListenerOfEachTriggerThatCounts() throws Exception {
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asCounting());
        var all = new CountDownLatch(TRIGGERS);
        var count = new AtomicInteger();
        interrupt.onTrigger(() -> {
            count.incrementAndGet();
            all.countDown();
            if (count.get() == 1) {
                throw new IllegalStateException("what a listener throws is logged");
            }
        });
        meet(interrupt.number());

        trigger(TRIGGERS);

        assertThat(all.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(count).hasValue(TRIGGERS);
    }

    @Test
    void shouldEndAWaitByAnInterruptOfTheThreadAndByItsClose() throws Exception {
        var interrupt = node.newInterrupt();
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> interrupt.await(SOON));
        assertThat(Thread.interrupted()).isTrue();
        var failure = new CompletableFuture<Throwable>();
        Thread.startVirtualThread(() -> {
            try {
                interrupt.await(SOON);
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
    void shouldSayThatAnInterruptIsNoMore() throws Exception {
        var interrupt = node.newInterrupt();
        meet(interrupt.number());

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
    void shouldTriggerAnInterruptOfItsOwnNode() throws Exception {
        var interrupt = node.newInterrupt();
        try (var remote = node.connectInterrupt(node.id(), interrupt.number(), SOON)) {
            remote.trigger();
            interrupt.await(SOON);
        }
    }

    @Test
    void shouldCarryMessagesInTheirOrder() throws Exception {
        var interrupt = node.newDataInterrupt();
        meetForData(interrupt.number());

        for (var length : new int[] {1, 0, 64, 7}) {
            send(Memory.pattern(length, length));
        }

        for (var length : new int[] {1, 0, 64, 7}) {
            assertThat(interrupt.receive(SOON)).isEqualTo(Memory.pattern(length, length));
        }
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> interrupt.receive(ofMillis(20)))
                .withMessageStartingWith("No message for " + interrupt);
    }

    @Test
    void shouldTellTheListenerOfEachMessageInItsOrder() throws Exception {
        var interrupt = node.newDataInterrupt(InterruptOptions.number(NUMBER));
        assertThat(interrupt.number()).isEqualTo(NUMBER);
        var received = new ArrayList<Byte>();
        var all = new CountDownLatch(100);
        interrupt.onMessage(message -> {
            received.add(message[0]);
            all.countDown();
        });
        meetForData(NUMBER);

        for (var i = 0; i < 100; i++) {
            send(new byte[] {(byte) i});
        }

        assertThat(all.await(10, TimeUnit.SECONDS)).isTrue();
        for (var i = 0; i < 100; i++) {
            assertThat(received.get(i)).isEqualTo((byte) i);
        }
    }

    /** The two kinds of interrupt have numbers of their own. */
    @Test
    void shouldTellTheKindsApart() throws Exception {
        var plain = node.newInterrupt(InterruptOptions.number(NUMBER));
        var withData = node.newDataInterrupt(InterruptOptions.number(NUMBER));
        meetForData(NUMBER);

        send(new byte[] {5});

        assertThat(withData.receive(SOON)).containsExactly(5);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> plain.await(ofMillis(20)));
    }

    @Test
    void shouldRefuseWhatCannotBe() throws Exception {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.newDataInterrupt(InterruptOptions.ANY.asCounting()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.newDataInterrupt(InterruptOptions.ANY.asShared()));
        var interrupt = node.newDataInterrupt();
        meetForData(interrupt.number());
        assertThatExceptionOfType(SisciException.class).isThrownBy(() -> send(new byte[1 << 20]));
    }

    @Test
    void shouldRefuseToBeUsedAfterItsClose() throws Exception {
        Interrupt plain = node.newInterrupt();
        DataInterrupt withData = node.newDataInterrupt();
        var toPlain = node.connectInterrupt(node.id(), plain.number(), SOON);
        var toData = node.connectDataInterrupt(node.id(), withData.number(), SOON);

        for (var object : new AutoCloseable[] {toPlain, toData, plain, withData}) {
            object.close();
            object.close();
        }

        assertThatIllegalStateException().isThrownBy(() -> plain.await(SOON));
        assertThatIllegalStateException().isThrownBy(() -> withData.receive(SOON));
        assertThatIllegalStateException().isThrownBy(toPlain::trigger);
        assertThatIllegalStateException().isThrownBy(() -> toData.trigger(new byte[1]));
    }
}
