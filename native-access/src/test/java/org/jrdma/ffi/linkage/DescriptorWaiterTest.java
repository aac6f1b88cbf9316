package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jrdma.ffi.CapturedLog;
import org.jrdma.ffi.ChildJvm;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.TestThreads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DescriptorWaiterTest {

    private int descriptor;

    @BeforeEach
    void open() throws FabricException {
        descriptor = TestDescriptors.event();
    }

    @AfterEach
    void close() {
        TestDescriptors.close(descriptor);
    }

    @Test
    void shouldReturnIfTheDescriptorIsReadable() throws Exception {
        TestDescriptors.signal(descriptor);

        try (var waiter = DescriptorWaiter.on(descriptor)) {
            assertThat(waiter.await(waiter.ticket(), deadlineIn(20))).isTrue();
        }
    }

    @Test
    void shouldReturnWhenTheDescriptorBecomesWritable() throws Exception {
        var full = TestDescriptors.fullPipe();
        try (var writable = DescriptorWaiter.onWritable(full[1]);
                var readable = DescriptorWaiter.onWritable(descriptor)) {
            assertThat(readable.await(readable.ticket(), Deadline.NEVER)).isTrue();
            assertThat(writable.await(writable.ticket(), Deadline.after(Duration.ofMillis(50))))
                    .isFalse();
            var waiting =
                    TestThreads.start(() -> writable.await(writable.ticket(), Deadline.NEVER))
                            .awaitWaiting();

            while (TestDescriptors.drain(full[0])) {}

            assertThat(waiting.result()).isTrue();
        } finally {
            Arrays.stream(full).forEach(TestDescriptors::close);
        }
    }

    @Test
    void shouldAllowAReadWaiterAndAWriteWaiterOnOneDescriptor() throws Exception {
        TestDescriptors.signal(descriptor);
        try (var readable = DescriptorWaiter.on(descriptor);
                var writable = DescriptorWaiter.onWritable(descriptor)) {
            assertThat(readable.await(readable.ticket(), deadlineIn(20))).isTrue();
            assertThat(writable.await(writable.ticket(), deadlineIn(20))).isTrue();
        }
    }

    @Test
    void shouldReturnWhenTheDescriptorBecomesReadable() throws Exception {
        try (var waiter = DescriptorWaiter.on(descriptor)) {
            var waiting =
                    TestThreads.start(() -> waiter.await(waiter.ticket(), Deadline.NEVER))
                            .awaitWaiting();

            TestDescriptors.signal(descriptor);

            assertThat(waiting.result()).isTrue();
        }
    }

    @Test
    void shouldReturnRepeatedlyWhileTheDescriptorIsReadable() throws Exception {
        TestDescriptors.signal(descriptor);

        try (var waiter = DescriptorWaiter.on(descriptor)) {
            assertThat(waiter.await(waiter.ticket(), deadlineIn(20))).isTrue();
            assertThat(waiter.await(waiter.ticket(), deadlineIn(20))).isTrue();
            assertThat(TestDescriptors.drain(descriptor)).isTrue();
            assertThat(waiter.await(waiter.ticket(), Deadline.after(Duration.ofMillis(20))))
                    .as("readable after the descriptor was drained")
                    .isFalse();
        }
    }

    @Test
    void shouldReturnFalseWhenTheDeadlinePassesFirst() throws Exception {
        try (var waiter = DescriptorWaiter.on(descriptor)) {
            var before = System.nanoTime();

            assertThat(waiter.await(waiter.ticket(), Deadline.after(Duration.ofMillis(30))))
                    .isFalse();

            assertThat(System.nanoTime() - before)
                    .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(30));
        }
    }

    @Test
    void shouldReturnFalseImmediatelyIfTheDeadlineHasPassed() throws Exception {
        try (var waiter = DescriptorWaiter.on(descriptor)) {
            assertThat(waiter.await(waiter.ticket(), Deadline.after(Duration.ZERO))).isFalse();
        }
    }

    @Test
    void shouldNotWaitIfTheDescriptorWasReadableSinceTheTicket() throws Exception {
        try (var waiter = DescriptorWaiter.on(descriptor)) {
            var ticket = waiter.ticket();
            TestDescriptors.signal(descriptor);
            assertThat(waiter.await(waiter.ticket(), deadlineIn(20))).isTrue();
            TestDescriptors.drain(descriptor);

            assertThat(waiter.await(ticket, Deadline.after(Duration.ZERO))).isTrue();
        }
    }

    @Test
    void shouldEndAWaitIfInterruptedAndKeepTheStatus() throws Exception {
        try (var waiter = DescriptorWaiter.on(descriptor)) {
            var waiting =
                    TestThreads.start(
                                    () -> {
                                        assertThatExceptionOfType(InterruptedIOException.class)
                                                .isThrownBy(() ->
                                                        waiter.await(
                                                                waiter.ticket(), Deadline.NEVER))
                                                .withMessage(
                                                        "The thread was interrupted during the wait");
                                        return Thread.currentThread().isInterrupted();
                                    })
                            .awaitWaiting();

            waiting.thread().interrupt();

            assertThat(waiting.result()).as("the interrupt status").isTrue();
        }
    }

    @Test
    void shouldNotStartAWaitIfInterrupted() throws Exception {
        try (var waiter = DescriptorWaiter.on(descriptor)) {
            Thread.currentThread().interrupt();

            assertThatExceptionOfType(InterruptedIOException.class)
                    .isThrownBy(() -> waiter.await(waiter.ticket(), Deadline.NEVER));

            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void shouldEndAWaitWhenClosed() throws Exception {
        var waiter = DescriptorWaiter.on(descriptor);
        var waiting =
                TestThreads.start(() ->
                                assertThatIllegalStateException()
                                        .isThrownBy(
                                                () -> waiter.await(waiter.ticket(), Deadline.NEVER))
                                        .withMessage("The waiter was closed during the wait"))
                        .awaitWaiting();

        waiter.close();

        assertThat(waiting.result()).isNotNull();
    }

    @Test
    void shouldRejectAWaitAfterCloseAndAllowASecondClose() throws Exception {
        var waiter = DescriptorWaiter.on(descriptor);

        waiter.close();
        waiter.close();

        assertThatIllegalStateException()
                .isThrownBy(() -> waiter.await(waiter.ticket(), Deadline.NEVER));
    }

    @Test
    void shouldWakeAllThreadsThatWaitForTheDescriptor() throws Exception {
        try (var waiter = DescriptorWaiter.on(descriptor)) {
            var waiting =
                    IntStream.range(0, 5)
                            .mapToObj(_ ->
                                    TestThreads.start(
                                            () -> waiter.await(waiter.ticket(), Deadline.NEVER)))
                            .toList();
            waiting.forEach(TestThreads.Started::awaitWaiting);

            TestDescriptors.signal(descriptor);

            for (var each : waiting) {
                assertThat(each.result()).isTrue();
            }
        }
    }

    @Test
    void shouldWakeOnlyThreadsThatWaitForTheReadableDescriptor() throws Exception {
        var other = TestDescriptors.event();
        try (var waiter = DescriptorWaiter.on(descriptor);
                var otherWaiter = DescriptorWaiter.on(other)) {
            var waiting =
                    TestThreads.start(() -> waiter.await(waiter.ticket(), deadlineIn(20)))
                            .awaitWaiting();

            TestDescriptors.signal(other);

            assertThat(otherWaiter.await(otherWaiter.ticket(), deadlineIn(20))).isTrue();
            assertThat(waiting.task().isDone()).isFalse();
            TestDescriptors.signal(descriptor);
            assertThat(waiting.result()).isTrue();
        }
        TestDescriptors.close(other);
    }

    @Test
    void shouldRunTheCallbackOnceForEachArm() throws Exception {
        var calls = new Semaphore(0);
        try (var waiter = DescriptorWaiter.watch(descriptor, calls::release)) {
            TestDescriptors.signal(descriptor);
            awaitPollingThread();
            assertThat(calls.availablePermits()).as("not armed yet").isZero();

            waiter.arm();
            calls.acquire();
            awaitPollingThread();
            assertThat(calls.availablePermits()).as("still readable, but not armed").isZero();

            waiter.arm();
            calls.acquire();
        }
    }

    @Test
    void shouldRunTheCallbackOnceIfArmedTwice() throws Exception {
        var calls = new AtomicInteger();
        try (var waiter = DescriptorWaiter.watch(descriptor, calls::incrementAndGet)) {
            waiter.arm();
            waiter.arm();

            TestDescriptors.signal(descriptor);
            awaitPollingThread();
            awaitPollingThread();

            assertThat(calls).hasValue(1);
        }
    }

    @Test
    void shouldAllowTheCallbackToArm() throws Exception {
        var remainingCalls = new CountDownLatch(3);
        var waiter = new DescriptorWaiter[1];
        waiter[0] =
                DescriptorWaiter.watch(
                        descriptor,
                        () -> {
                            remainingCalls.countDown();
                            try {
                                waiter[0].arm();
                            } catch (FabricException e) {
                                throw new AssertionError(e);
                            }
                        });
        TestDescriptors.signal(descriptor);
        waiter[0].arm();

        assertThat(remainingCalls.await(20, TimeUnit.SECONDS)).isTrue();
        waiter[0].close();
    }

    @Test
    void shouldNotRunTheCallbackForAFailedDescriptorBeforeItIsArmed() throws Exception {
        var ends = TestDescriptors.pipe();
        LinuxCalls.setNonBlocking(ends[0]);
        var calls = new Semaphore(0);
        try (var waiter = DescriptorWaiter.watch(ends[0], calls::release)) {
            TestDescriptors.close(ends[1]); // epoll always reports a hang-up

            awaitPollingThread();
            assertThat(calls.availablePermits()).as("calls before it is armed").isZero();

            waiter.arm();
            calls.acquire();
        }
        TestDescriptors.close(ends[0]);
    }

    @Test
    void shouldWaitForTheEndOfARunningCallbackInClose() throws Exception {
        var inside = new CountDownLatch(1);
        var proceed = new CountDownLatch(1);
        var ended = new AtomicBoolean();
        var waiter =
                DescriptorWaiter.watch(
                        descriptor,
                        () -> {
                            inside.countDown();
                            awaitUninterrupted(proceed);
                            ended.set(true);
                        });
        TestDescriptors.signal(descriptor);
        waiter.arm();
        inside.await();

        var closing =
                TestThreads.start(
                                () -> {
                                    waiter.close();
                                    return ended.get();
                                })
                        .awaitWaiting();

        assertThat(closing.task().isDone()).isFalse();
        proceed.countDown();
        assertThat(closing.result()).as("the callback had ended before close() returned").isTrue();
    }

    @Test
    void shouldAllowTheCallbackToClose() throws Exception {
        var closed = new CountDownLatch(1);
        var calls = new AtomicInteger();
        var waiter = new DescriptorWaiter[1];
        waiter[0] =
                DescriptorWaiter.watch(
                        descriptor,
                        () -> {
                            calls.incrementAndGet();
                            waiter[0].close();
                            closed.countDown();
                        });
        TestDescriptors.signal(descriptor);
        waiter[0].arm();

        assertThat(closed.await(20, TimeUnit.SECONDS)).isTrue();
        waiter[0].arm(); // has no effect, because the waiter is closed
        awaitPollingThread();
        assertThat(calls).hasValue(1);
    }

    @Test
    void shouldContinuePollingIfACallbackThrowsAnException() throws Exception {
        try (var log = new CapturedLog();
                var faulty =
                        DescriptorWaiter.watch(
                                descriptor,
                                () -> {
                                    throw new IllegalArgumentException("a mistake");
                                })) {
            TestDescriptors.signal(descriptor);
            faulty.arm();

            awaitPollingThread();

            assertThat(log.toString()).contains("ERROR", "a mistake");
        }
    }

    @Test
    void shouldRunTheOtherCallbacksOfABatchIfACallbackFails() throws Exception {
        var others = new int[20];
        var called = new CountDownLatch(others.length);
        var waiters = new ArrayList<DescriptorWaiter>();
        var inside = new CountDownLatch(1);
        var proceed = new CountDownLatch(1);
        try (var log = new CapturedLog();
                var blocking =
                        DescriptorWaiter.watch(
                                descriptor,
                                () -> {
                                    inside.countDown();
                                    awaitUninterrupted(proceed);
                                })) {
            TestDescriptors.signal(descriptor);
            blocking.arm();
            inside.await(); // descriptors that become readable now are in one batch
            for (var i = 0; i < others.length; i++) {
                others[i] = TestDescriptors.event();
                TestDescriptors.signal(others[i]);
                var waiter =
                        DescriptorWaiter.watch(
                                others[i],
                                () -> {
                                    called.countDown();
                                    throw new IllegalArgumentException("a mistake");
                                });
                waiters.add(waiter);
                waiter.arm();
            }
            proceed.countDown();

            assertThat(called.await(20, TimeUnit.SECONDS)).isTrue();
            awaitPollingThread();
            assertThat(log.toString()).contains("a mistake");
        }
        waiters.forEach(DescriptorWaiter::close);
        Arrays.stream(others).forEach(TestDescriptors::close);
    }

    @Test
    void shouldRunOtherCallbacksBetweenTheRepeatedCallsOfACallback() throws Exception {
        var other = TestDescriptors.event();
        var called = new CountDownLatch(1);
        var calls = new CountDownLatch(100);
        var busy = new DescriptorWaiter[1];
        busy[0] =
                DescriptorWaiter.watch(
                        descriptor,
                        () -> {
                            TestDescriptors.drain(descriptor);
                            calls.countDown();
                            busy[0].callAgain();
                        });
        try (var waiter = DescriptorWaiter.watch(other, called::countDown)) {
            TestDescriptors.signal(descriptor);
            busy[0].arm();
            assertThat(calls.await(20, TimeUnit.SECONDS)).as("called without an event").isTrue();

            TestDescriptors.signal(other);
            waiter.arm();

            assertThat(called.await(20, TimeUnit.SECONDS)).isTrue();
        }
        busy[0].close();
        TestDescriptors.close(other);
    }

    @Test
    void shouldContinuePollingIfACallbackThrowsAnError() throws Exception {
        try (var log = new CapturedLog();
                var faulty =
                        DescriptorWaiter.watch(
                                descriptor,
                                () -> {
                                    throw new AssertionError("an error");
                                })) {
            TestDescriptors.signal(descriptor);
            faulty.arm();

            awaitPollingThread();

            assertThat(log.toString()).contains("ERROR", "an error");
        }
    }

    @Test
    void shouldRepeatACallbackThatRunsOutOfMemory() throws Exception {
        var calls = new AtomicInteger();
        try (var log = new CapturedLog();
                var waiter =
                        DescriptorWaiter.watch(
                                descriptor,
                                () -> {
                                    if (calls.incrementAndGet() < 3) {
                                        throw new OutOfMemoryError("a test");
                                    }
                                })) {
            TestDescriptors.signal(descriptor);
            waiter.arm();

            while (calls.get() < 3) {
                Thread.onSpinWait();
            }
            awaitPollingThread();

            assertThat(calls).hasValue(3);
            assertThat(log.toString()).contains("ERROR", "is repeated", "a test");
        }
    }

    @Test
    void shouldRejectAnInvalidDescriptor() {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> DescriptorWaiter.on(-1))
                .withMessage("epoll_ctl for descriptor -1 failed: EBADF (9)")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EBADF));
    }

    @Test
    void shouldLogThatADescriptorWasClosedBeforeItsWaiter() throws Exception {
        var closedEarly = TestDescriptors.event();
        var waiter = DescriptorWaiter.on(closedEarly);
        TestDescriptors.close(closedEarly);

        try (var log = new CapturedLog()) {
            waiter.close();

            assertThat(log.toString()).contains("was closed before its waiter", "EBADF (9)");
        }
    }

    @Test
    void shouldNotPinCarriersWhileThousandsOfVirtualThreadsWait() throws Exception {
        var child =
                ChildJvm.onClassPath(
                        VirtualThreadWaitProgram.class,
                        "--enable-native-access=ALL-UNNAMED",
                        "-Djdk.virtualThreadScheduler.parallelism=2",
                        "-Djdk.virtualThreadScheduler.maxPoolSize=2");

        assertThat(child.output()).contains("4000 waited, others made 10000 steps, 4000 woke");
        assertThat(child.exitCode()).isZero();
    }

    /**
     * Waits until the polling thread has processed all descriptors that were readable before this
     * call.
     */
    private static void awaitPollingThread() throws Exception {
        var marker = TestDescriptors.event();
        TestDescriptors.signal(marker);
        // In one batch, the marker may precede other events. They precede it in the next batch.
        for (var i = 0; i < 3; i++) {
            try (var waiter = DescriptorWaiter.on(marker)) {
                assertThat(waiter.await(waiter.ticket(), deadlineIn(20))).isTrue();
            }
        }
        TestDescriptors.close(marker);
    }

    private static Deadline deadlineIn(int seconds) {
        return Deadline.after(Duration.ofSeconds(seconds));
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
