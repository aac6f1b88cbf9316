package org.jrdma.ffi.guard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jrdma.ffi.TestThreads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class CallGuardTest {

    @Test
    void shouldHaveOneGuardForEachThread() throws Exception {
        var guard = CallGuard.ofCurrentThread();

        assertThat(CallGuard.ofCurrentThread()).isSameAs(guard);
        assertThat(TestThreads.start(CallGuard::ofCurrentThread).result()).isNotSameAs(guard);
    }

    @Test
    void shouldNotWaitIfNoCallIsInProgress() {
        CallGuard.ofCurrentThread().enter();
        CallGuard.ofCurrentThread().exit();

        CallGuard.awaitCallsInFlight();
    }

    @Test
    void shouldWaitForACallInProgress() throws Exception {
        assertWaitsForCall(_ -> {});
    }

    @Test
    void shouldNotWaitForTheNextCallOfTheSameThread() throws Exception {
        var steps = new Phaser(2);
        var caller =
                TestThreads.start(() -> {
                    var guard = CallGuard.ofCurrentThread();
                    guard.enter();
                    steps.arriveAndAwaitAdvance(); // inside the first call
                    steps.arriveAndAwaitAdvance(); // the other thread waits for this call
                    guard.exit();
                    guard.enter();
                    steps.arriveAndAwaitAdvance(); // the wait of the other thread has ended
                    guard.exit();
                });
        steps.arriveAndAwaitAdvance();
        var waiter = TestThreads.start(CallGuard::awaitCallsInFlight).awaitWaiting();

        steps.arriveAndAwaitAdvance();

        assertThat(waiter.result()).isTrue();
        steps.arriveAndAwaitAdvance();
        assertThat(caller.result()).isTrue();
    }

    @Test
    void shouldReturnWhileAThreadMakesCallsPermanently() throws Exception {
        var stop = new AtomicBoolean();
        var started = new CountDownLatch(1);
        var caller =
                TestThreads.start(() -> {
                    var guard = CallGuard.ofCurrentThread();
                    while (!stop.get()) {
                        guard.enter();
                        started.countDown();
                        guard.exit();
                    }
                });
        started.await();

        for (var i = 0; i < 100; i++) {
            CallGuard.awaitCallsInFlight();
        }

        stop.set(true);
        assertThat(caller.result()).isTrue();
    }

    @Test
    void shouldNotWaitForATerminatedThread() throws Exception {
        var terminated = TestThreads.start(() -> CallGuard.ofCurrentThread().enter());
        assertThat(terminated.result()).isTrue();
        terminated.thread().join();

        CallGuard.awaitCallsInFlight(); // would block forever if it waited for the thread
    }

    @Test
    void shouldNotWaitForAThreadThatTerminatesInACall() throws Exception {
        var inside = new CountDownLatch(1);
        var proceed = new CountDownLatch(1);
        TestThreads.start(() -> {
            CallGuard.ofCurrentThread().enter();
            inside.countDown();
            proceed.await();
        });
        inside.await();
        var waiter = TestThreads.start(CallGuard::awaitCallsInFlight).awaitWaiting();

        proceed.countDown();

        assertThat(waiter.result()).isTrue();
    }

    @Test
    void shouldWaitForACallAfterAnUnbalancedEnter() throws Exception {
        assertWaitsForCall(CallGuard::enter);
    }

    @Test
    void shouldWaitForACallAfterAnUnbalancedExit() throws Exception {
        assertWaitsForCall(CallGuard::exit);
    }

    private static void assertWaitsForCall(Consumer<CallGuard> before) throws Exception {
        var inside = new CountDownLatch(1);
        var proceed = new CountDownLatch(1);
        var caller =
                TestThreads.start(() -> {
                    before.accept(CallGuard.ofCurrentThread());
                    callUntil(inside, proceed);
                });
        inside.await();

        var waiter = TestThreads.start(CallGuard::awaitCallsInFlight).awaitWaiting();

        assertThat(waiter.task().isDone()).isFalse();
        proceed.countDown();
        assertThat(waiter.result()).isTrue();
        assertThat(caller.result()).isTrue();
        CallGuard.awaitCallsInFlight(); // the call has ended
    }

    @Test
    void shouldNotWaitForATerminatedVirtualThread() throws Exception {
        Thread.ofVirtual().start(() -> CallGuard.ofCurrentThread().enter()).join();

        CallGuard.awaitCallsInFlight();
    }

    @Test
    void shouldWaitForACallThatBeganDuringAnotherWait() throws Exception {
        var inside = new CountDownLatch(1);
        var proceedFirst = new CountDownLatch(1);
        var insideSecond = new CountDownLatch(1);
        var proceedSecond = new CountDownLatch(1);
        var first = TestThreads.start(() -> callUntil(inside, proceedFirst));
        inside.await();
        var waiter = TestThreads.start(CallGuard::awaitCallsInFlight).awaitWaiting();
        var second = TestThreads.start(() -> callUntil(insideSecond, proceedSecond));
        insideSecond.await();
        var lateWaiters = new ArrayList<TestThreads.Started<Boolean>>();
        for (var i = 0; i < 10; i++) {
            lateWaiters.add(TestThreads.start(CallGuard::awaitCallsInFlight).awaitWaiting());
        }

        proceedFirst.countDown();

        assertThat(waiter.result()).isTrue();
        assertThat(first.result()).isTrue();
        Thread.sleep(50);
        assertThat(lateWaiters).noneMatch(lateWaiter -> lateWaiter.task().isDone());
        proceedSecond.countDown();
        assertThat(second.result()).isTrue();
        for (var lateWaiter : lateWaiters) {
            assertThat(lateWaiter.result()).isTrue();
        }
    }

    private static void callUntil(CountDownLatch inside, CountDownLatch proceed) throws Exception {
        CallGuard.ofCurrentThread().enter();
        inside.countDown();
        proceed.await();
        CallGuard.ofCurrentThread().exit();
    }
}
