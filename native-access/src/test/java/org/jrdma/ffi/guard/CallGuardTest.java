package org.jrdma.ffi.guard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class CallGuardTest {

    @Test
    void shouldHaveOneGuardForEachThread() throws Exception {
        var mine = CallGuard.ofCurrentThread();

        assertThat(CallGuard.ofCurrentThread()).isSameAs(mine);
        assertThat(Threads.start(CallGuard::ofCurrentThread).result()).isNotSameAs(mine);
    }

    @Test
    void shouldNotWaitIfNoThreadIsInside() {
        CallGuard.ofCurrentThread().enter();
        CallGuard.ofCurrentThread().exit();

        CallGuard.awaitCallsInFlight();
    }

    @Test
    void shouldWaitForACallThatIsInside() throws Exception {
        var inside = new CountDownLatch(1);
        var goOn = new CountDownLatch(1);
        var caller =
                Threads.start(() -> {
                    CallGuard.ofCurrentThread().enter();
                    inside.countDown();
                    goOn.await();
                    CallGuard.ofCurrentThread().exit();
                });
        inside.await();

        var waiter = Threads.start(CallGuard::awaitCallsInFlight).awaitWaiting();

        assertThat(waiter.task().isDone()).isFalse();
        goOn.countDown();
        assertThat(waiter.result()).isTrue();
        assertThat(caller.result()).isTrue();
    }

    @Test
    void shouldNotWaitForTheNextCallOfTheSameThread() throws Exception {
        var steps = new Phaser(2);
        var caller =
                Threads.start(() -> {
                    var guard = CallGuard.ofCurrentThread();
                    guard.enter();
                    steps.arriveAndAwaitAdvance(); // inside the first call
                    steps.arriveAndAwaitAdvance(); // the other thread waits for this call
                    guard.exit();
                    guard.enter();
                    steps.arriveAndAwaitAdvance(); // the wait is over
                    guard.exit();
                });
        steps.arriveAndAwaitAdvance();
        var waiter = Threads.start(CallGuard::awaitCallsInFlight).awaitWaiting();

        steps.arriveAndAwaitAdvance();

        assertThat(waiter.result()).isTrue();
        steps.arriveAndAwaitAdvance();
        assertThat(caller.result()).isTrue();
    }

    @Test
    void shouldNotStarveIfAThreadCallsPermanently() throws Exception {
        var stop = new AtomicBoolean();
        var started = new CountDownLatch(1);
        var caller =
                Threads.start(() -> {
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
        var dying = Threads.start(() -> CallGuard.ofCurrentThread().enter());
        assertThat(dying.result()).isTrue();
        dying.thread().join();

        CallGuard.awaitCallsInFlight(); // would block forever otherwise
    }

    @Test
    void shouldNotWaitForATerminatedVirtualThread() throws Exception {
        Thread.ofVirtual().start(() -> CallGuard.ofCurrentThread().enter()).join();

        CallGuard.awaitCallsInFlight();
    }

    @Test
    void shouldWaitForACallThatBeganDuringAnotherWait() throws Exception {
        var inside = new CountDownLatch(1);
        var goOnFirst = new CountDownLatch(1);
        var insideToo = new CountDownLatch(1);
        var goOnSecond = new CountDownLatch(1);
        var first = Threads.start(() -> beInside(inside, goOnFirst));
        inside.await();
        var waiter = Threads.start(CallGuard::awaitCallsInFlight).awaitWaiting();
        var second = Threads.start(() -> beInside(insideToo, goOnSecond));
        insideToo.await();
        var late = new ArrayList<Threads.Started<Boolean>>();
        for (var i = 0; i < 10; i++) {
            late.add(Threads.start(CallGuard::awaitCallsInFlight).awaitWaiting());
        }

        goOnFirst.countDown();

        assertThat(waiter.result()).isTrue();
        assertThat(first.result()).isTrue();
        Thread.sleep(50);
        assertThat(late).noneMatch(each -> each.task().isDone());
        goOnSecond.countDown();
        assertThat(second.result()).isTrue();
        for (var each : late) {
            assertThat(each.result()).isTrue();
        }
    }

    private static void beInside(CountDownLatch inside, CountDownLatch goOn) throws Exception {
        CallGuard.ofCurrentThread().enter();
        inside.countDown();
        goOn.await();
        CallGuard.ofCurrentThread().exit();
    }
}
