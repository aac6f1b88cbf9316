package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.UpcallFunction;
import org.jrdma.ffi.linkage.Upcalls;
import org.jrdma.soft.sisci.FaultOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of interrupts of the first node, which the second node triggers. */
class InterruptTest {

    private static final LinkedBlockingQueue<String> RECEIVED_TEXTS = new LinkedBlockingQueue<>();
    private static final Semaphore TRIGGERS = new Semaphore(0);
    private static volatile int action = sisci_h.SCI_CALLBACK_CONTINUE();

    private ThreeNodes nodes;

    @BeforeEach
    void join() throws Exception {
        nodes = new ThreeNodes(FaultOptions.NONE);
        RECEIVED_TEXTS.clear();
        action = sisci_h.SCI_CALLBACK_CONTINUE();
    }

    @AfterEach
    void leave() throws Exception {
        nodes.close();
    }

    @SuppressWarnings("unused") // Called by the library.
    private static int receive(long argument, long interrupt, long data, int length, int status) {
        RECEIVED_TEXTS.add(argument + ":" + Downcalls.textAt(MemorySegment.ofAddress(data)));
        return action;
    }

    private static long callback() throws ReflectiveOperationException {
        return stub("receive", long.class, long.class, long.class, int.class, int.class);
    }

    private static long stub(String name, Class<?>... parameters)
            throws ReflectiveOperationException {
        var type = MethodType.methodType(int.class, parameters);
        return Upcalls.stub(
                        new UpcallFunction(
                                MethodHandles.lookup().findStatic(InterruptTest.class, name, type),
                                MethodHandles.empty(
                                        MethodType.methodType(int.class, Throwable.class))))
                .address();
    }

    private record Created(long handle, int number) {}

    private Created create(boolean withData, long callback, int flags) {
        var place = nodes.first.place();
        var number = nodes.first.place();
        nodes.first.ok(
                withData ? "SCICreateDataInterrupt" : "SCICreateInterrupt",
                nodes.firstDescriptor,
                place.address(),
                0,
                number.address(),
                callback,
                77,
                flags);
        return new Created(LibraryCaller.handle(place), number.get(JAVA_INT, 0));
    }

    private long connect(boolean withData, int number) {
        var place = nodes.second.place();
        nodes.second.ok(
                withData ? "SCIConnectDataInterrupt" : "SCIConnectInterrupt",
                nodes.secondDescriptor,
                place.address(),
                nodes.first.node(),
                0,
                number,
                -1,
                0);
        return LibraryCaller.handle(place);
    }

    private String trigger(long interrupt, String text) {
        try (var arena = Arena.ofConfined()) {
            var data = arena.allocateFrom(text);
            return nodes.second.attempt(
                    "SCITriggerDataInterrupt", interrupt, data.address(), data.byteSize(), 0);
        }
    }

    @Test
    void shouldWakeUpAWaitingThread() {
        var local = create(false, 0, 0);
        var remote = connect(false, local.number());

        assertThat(nodes.first.attempt("SCIWaitForInterrupt", local.handle(), 10, 0))
                .isEqualTo("TIMEOUT");
        nodes.second.ok("SCITriggerInterrupt", remote, 0);

        nodes.first.ok("SCIWaitForInterrupt", local.handle(), 5_000, 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOBUFS, Errno.ENOMEM, Errno.EINTR})
    void shouldNotLoseATriggerThatTheKernelDoesNotAccept(int errno) throws Exception {
        var local = create(false, 0, 0);
        var remote = connect(false, local.number());

        CompletableFuture.runAsync(
                        () -> {
                            FailingSends.failWith(errno);
                            nodes.second.ok("SCITriggerInterrupt", remote, 0);
                        },
                        task -> Thread.ofPlatform().start(task))
                .get();

        nodes.first.ok("SCIWaitForInterrupt", local.handle(), 5_000, 0);
    }

    @Test
    void shouldReportEachTriggerIfCountingAndCombineThemOtherwise() throws Exception {
        var counting = create(false, 0, sisci_h.SCI_FLAG_COUNTING_INT());
        var combining = create(false, 0, 0);
        var toCounting = connect(false, counting.number());
        var toCombining = connect(false, combining.number());

        for (var i = 0; i < 3; i++) {
            nodes.second.ok("SCITriggerInterrupt", toCombining, 0);
            nodes.second.ok("SCITriggerInterrupt", toCounting, 0);
        }

        for (var i = 0; i < 3; i++) {
            nodes.first.ok("SCIWaitForInterrupt", counting.handle(), 5_000, 0);
        }
        assertThat(nodes.first.attempt("SCIWaitForInterrupt", counting.handle(), 10, 0))
                .isEqualTo("TIMEOUT");
        nodes.first.ok("SCIWaitForInterrupt", combining.handle(), 5_000, 0);
        assertThat(nodes.first.attempt("SCIWaitForInterrupt", combining.handle(), 10, 0))
                .isEqualTo("TIMEOUT");
    }

    @Test
    void shouldCountTriggersThatAreNotTaken() {
        var counting = create(false, 0, sisci_h.SCI_FLAG_COUNTING_INT());
        var remote = connect(false, counting.number());

        for (var i = 0; i < 10_000; i++) {
            nodes.second.ok("SCITriggerInterrupt", remote, 0);
        }

        for (var i = 0; i < 10_000; i++) {
            nodes.first.ok("SCIWaitForInterrupt", counting.handle(), 5_000, 0);
        }
        assertThat(nodes.first.attempt("SCIWaitForInterrupt", counting.handle(), 10, 0))
                .isEqualTo("TIMEOUT");
    }

    @SuppressWarnings("unused") // Called by the library.
    private static int countTrigger(long argument, long interrupt, int status) {
        TRIGGERS.release();
        return action;
    }

    @Test
    void shouldCallTheCallbackForEachTriggerIfCounting() throws Exception {
        var callback = stub("countTrigger", long.class, long.class, int.class);
        var counting =
                create(
                        false,
                        callback,
                        sisci_h.SCI_FLAG_COUNTING_INT() | sisci_h.SCI_FLAG_USE_CALLBACK());
        var remote = connect(false, counting.number());

        for (var i = 0; i < 10_000; i++) {
            nodes.second.ok("SCITriggerInterrupt", remote, 0);
        }

        assertThat(TRIGGERS.tryAcquire(10_000, 60, TimeUnit.SECONDS)).isTrue();
        assertThat(TRIGGERS.tryAcquire(20, TimeUnit.MILLISECONDS)).isFalse();
    }

    @Test
    void shouldNotLoseDataOfManySenders() {
        var local = create(true, 0, 0);
        var senders = 70; // Each of them sends 64 messages.
        for (var i = 0; i < senders; i++) {
            var remote = connect(true, local.number());
            var sent = 0;
            while (trigger(remote, i + "." + sent).equals("OK")) {
                sent++;
            }
            assertThat(sent).isEqualTo(64);
        }

        var data = nodes.first.place();
        var length = nodes.first.place();
        for (var i = 0; i < senders * 64; i++) {
            length.set(JAVA_INT, 0, 8);
            nodes.first.ok(
                    "SCIWaitForDataInterrupt",
                    local.handle(),
                    data.address(),
                    length.address(),
                    5_000,
                    0);
            assertThat(data.getString(0)).isEqualTo(i / 64 + "." + i % 64);
        }
    }

    @Test
    void shouldCallTheCallbackWithTheDataInOrder() throws Exception {
        var local = create(true, callback(), sisci_h.SCI_FLAG_USE_CALLBACK());
        var remote = connect(true, local.number());

        for (var i = 0; i < 50; i++) {
            assertThat(trigger(remote, "text " + i)).isEqualTo("OK");
        }

        for (var i = 0; i < 50; i++) {
            assertThat(RECEIVED_TEXTS.poll(5, TimeUnit.SECONDS)).isEqualTo("77:text " + i);
        }
    }

    @Test
    void shouldNotCallTheCallbackAfterACancel() throws Exception {
        action = sisci_h.SCI_CALLBACK_CANCEL();
        var local = create(true, callback(), sisci_h.SCI_FLAG_USE_CALLBACK());
        var remote = connect(true, local.number());

        trigger(remote, "one");
        trigger(remote, "two");

        assertThat(RECEIVED_TEXTS.poll(5, TimeUnit.SECONDS)).isEqualTo("77:one");
        assertThat(RECEIVED_TEXTS.poll(50, TimeUnit.MILLISECONDS)).isNull();
    }

    @Test
    void shouldRejectDataWhileTheQueueIsFullAndContinueAfterwards() throws Exception {
        var local = create(true, 0, 0);
        var remote = connect(true, local.number());
        var sent = 0;
        while (trigger(remote, "text").equals("OK")) {
            sent++;
        }

        assertThat(nodes.second.errorName()).isEqualTo("NOSPC");
        assertThat(sent).isEqualTo(64);
        var data = nodes.first.place();
        var length = nodes.first.place();
        length.set(JAVA_INT, 0, 4);
        assertThat(
                        nodes.first.attempt(
                                "SCIWaitForDataInterrupt",
                                local.handle(),
                                data.address(),
                                length.address(),
                                5_000,
                                0))
                .isEqualTo("OVERFLOW"); // The data remains in the queue.
        length.set(JAVA_INT, 0, 8);
        nodes.first.ok(
                "SCIWaitForDataInterrupt",
                local.handle(),
                data.address(),
                length.address(),
                5_000,
                0);
        assertThat(length.get(JAVA_INT, 0)).isEqualTo(5);
        assertThat(data.getString(0)).isEqualTo("text");
        ThreeNodes.eventually(() -> trigger(remote, "text").equals("OK"));
    }

    @Test
    void shouldNumberInterruptsAndDataInterruptsSeparately() {
        assertThat(create(false, 0, 0).number()).isZero();
        assertThat(create(false, 0, 0).number()).isEqualTo(1);
        assertThat(create(true, 0, 0).number()).isZero();
    }

    @Test
    void shouldTriggerAllInterruptsThatShareANumberAndRejectOthers() {
        var flags = sisci_h.SCI_FLAG_SHARED_INT() | sisci_h.SCI_FLAG_FIXED_INTNO();
        var first = create(false, 0, flags);
        var second = create(false, 0, flags);
        assertThat(second.number()).isEqualTo(first.number());
        assertThat(
                        nodes.first.attempt(
                                "SCICreateInterrupt",
                                nodes.firstDescriptor,
                                nodes.first.place().address(),
                                0,
                                nodes.first.place().address(),
                                0,
                                0,
                                sisci_h.SCI_FLAG_FIXED_INTNO()))
                .isEqualTo("SEGMENTID_USED"); // The error has the same number as INTNO_USED.

        nodes.second.ok("SCITriggerInterrupt", connect(false, first.number()), 0);

        nodes.first.ok("SCIWaitForInterrupt", first.handle(), 5_000, 0);
        nodes.first.ok("SCIWaitForInterrupt", second.handle(), 5_000, 0);
    }

    private static boolean waitsInTheKernel(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("epollWait"));
    }

    /** The signal of a trigger wakes up only one of the threads. */
    @Test
    void shouldWakeUpOneOfSeveralThreadsPerTrigger() throws Exception {
        var local = create(false, 0, 0);
        var remote = connect(false, local.number());
        var waitResults = new LinkedBlockingQueue<String>();
        for (var i = 0; i < 3; i++) {
            var waiter =
                    Thread.ofPlatform()
                            .start(() ->
                                    waitResults.add(
                                            nodes.first.attempt(
                                                    "SCIWaitForInterrupt",
                                                    local.handle(),
                                                    5_000,
                                                    0)));
            ThreeNodes.eventually(() -> waitsInTheKernel(waiter));
        }

        for (var i = 0; i < 3; i++) {
            nodes.second.ok("SCITriggerInterrupt", remote, 0);

            assertThat(waitResults.poll(5, TimeUnit.SECONDS)).isEqualTo("OK");
            assertThat(waitResults.poll(20, TimeUnit.MILLISECONDS)).isNull();
        }
    }

    @Test
    void shouldKeepOneOfManyTriggersThatNoThreadAwaits() {
        var local = create(false, 0, 0);
        var remotes = new ArrayList<Long>();
        for (var i = 0; i < 10; i++) { // More connections than the owner gives sockets to.
            remotes.add(connect(false, local.number()));
        }

        for (var i = 0; i < 1_000; i++) {
            for (var remote : remotes) {
                nodes.second.ok("SCITriggerInterrupt", remote, 0);
            }
        }

        nodes.first.ok("SCIWaitForInterrupt", local.handle(), 5_000, 0);
        for (var remote : remotes) {
            nodes.second.ok("SCIDisconnectInterrupt", remote, 0);
        }
        nodes.first.ok("SCIRemoveInterrupt", local.handle(), 0);
    }

    /** The connections that the owner has given no socket send messages. */
    @Test
    void shouldWakeUpAThreadByEachOfManyConnections() {
        var local = create(false, 0, 0);

        for (var i = 0; i < 10; i++) {
            var remote = connect(false, local.number());
            nodes.second.ok("SCITriggerInterrupt", remote, 0);

            nodes.first.ok("SCIWaitForInterrupt", local.handle(), 5_000, 0);
            assertThat(nodes.first.attempt("SCIWaitForInterrupt", local.handle(), 10, 0))
                    .isEqualTo("TIMEOUT");
        }
    }

    /** The owner closes the socket of the connection when it receives the disconnect. */
    @Test
    void shouldKeepATriggerIfThePeerDisconnectsAfterwards() {
        var local = create(false, 0, 0);
        for (var i = 0; i < 20; i++) {
            var remote = connect(false, local.number());
            nodes.second.ok("SCITriggerInterrupt", remote, 0);
            nodes.second.ok("SCIDisconnectInterrupt", remote, 0);
            // The response arrives after the owner has handled the disconnect.
            var next = connect(false, local.number());

            nodes.first.ok("SCIWaitForInterrupt", local.handle(), 5_000, 0);
            nodes.second.ok("SCIDisconnectInterrupt", next, 0);
        }
    }

    @Test
    void shouldContinueToWaitAfterAConnectedProcessHasLeft() throws Exception {
        var local = create(false, 0, 0);
        var remote = connect(false, local.number());
        var other = nodes.third.place();
        nodes.third.ok(
                "SCIConnectInterrupt",
                nodes.thirdDescriptor,
                other.address(),
                nodes.first.node(),
                0,
                local.number(),
                -1,
                0);
        nodes.third.close();

        assertThat(nodes.first.attempt("SCIWaitForInterrupt", local.handle(), 50, 0))
                .isEqualTo("TIMEOUT");
        nodes.second.ok("SCITriggerInterrupt", remote, 0);
        nodes.first.ok("SCIWaitForInterrupt", local.handle(), 5_000, 0);
    }

    @Test
    void shouldCancelTheWaitForARemovedInterruptAndRejectTriggers() throws Exception {
        var local = create(false, 0, 0);
        var remote = connect(false, local.number());
        var waitResults = new LinkedBlockingQueue<String>();
        var waiter =
                Thread.ofPlatform()
                        .start(() ->
                                waitResults.add(
                                        nodes.first.attempt(
                                                "SCIWaitForInterrupt", local.handle(), -1, 0)));
        ThreeNodes.eventually(() -> waitsInTheKernel(waiter));

        nodes.first.ok("SCIRemoveInterrupt", local.handle(), 0);

        assertThat(waitResults.poll(5, TimeUnit.SECONDS)).isEqualTo("CANCELLED");
        ThreeNodes.eventually(() ->
                nodes.second.attempt("SCITriggerInterrupt", remote, 0).equals("NOT_CONNECTED"));
        nodes.second.ok("SCIDisconnectInterrupt", remote, 0);
    }

    @Test
    void shouldRejectAMissingInterruptAndACutLink() throws Exception {
        var local = create(false, 0, 0);
        var remote = connect(false, local.number());
        assertThat(
                        nodes.second.attempt(
                                "SCIConnectInterrupt",
                                nodes.secondDescriptor,
                                nodes.second.place().address(),
                                nodes.first.node(),
                                0,
                                99,
                                -1,
                                0))
                .isEqualTo("NO_SUCH_INTNO");

        nodes.first.fabric().cutLink(0);

        assertThat(nodes.second.attempt("SCITriggerInterrupt", remote, 0))
                .isEqualTo("NO_REMOTE_LINK_ACCESS");
    }
}
