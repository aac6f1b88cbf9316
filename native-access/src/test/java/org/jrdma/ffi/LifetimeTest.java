package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.guard.CallGuard;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class LifetimeTest {

    private final List<String> destroyed = Collections.synchronizedList(new ArrayList<>());
    private int rejectedCloses;

    private Lifetime lifetime(String name, Lifetime... owners) {
        return new Lifetime(name, List.of(owners), () -> destroyed.add(name));
    }

    private record Leaked(WeakReference<Lifetime> owner, WeakReference<byte[]> memory) {}

    @Test
    void shouldKeepMemoryOfDestructorsReachableUntilClosed() {
        var leaked = leak();

        System.gc();
        System.gc();

        assertThat(leaked.memory.get()).isNotNull();
        Objects.requireNonNull(leaked.owner.get()).close();
        for (var i = 0; i < 100 && leaked.memory.get() != null; i++) {
            System.gc();
        }
        assertThat(leaked.memory.get()).isNull();
        assertThat(destroyed).containsExactly("owner");
    }

    private Leaked leak() {
        var owner = lifetime("owner");
        var memory = new byte[1];
        var region = new Lifetime("region", List.of(owner), () -> memory[0]++);
        assertThat(region.isClosed()).isFalse();
        return new Leaked(new WeakReference<>(owner), new WeakReference<>(memory));
    }

    /** Programs can call release(), because bindings outside of this project need it. */
    @Test
    void shouldRejectAReleaseWithoutAHoldAndStayUsable() {
        var lifetime = lifetime("thing");

        assertThatThrownBy(lifetime::release)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("thing was released more often than held");

        assertThat(lifetime.isClosed()).isFalse();
        lifetime.hold();
        lifetime.release();
        lifetime.close();
        assertThat(destroyed).containsExactly("thing");
        assertThatThrownBy(lifetime::release).isInstanceOf(IllegalStateException.class);
        assertThat(lifetime.isClosed()).isTrue();
    }

    @Test
    void shouldReturnItsOpenDependents() {
        var owner = lifetime("owner");
        var first = lifetime("first", owner);
        var second = lifetime("second", owner);
        var third = lifetime("third", owner);

        second.close();

        assertThat(owner.dependents()).containsExactly(first, third);
        owner.close();
        assertThat(owner.dependents()).isEmpty();
    }

    @Test
    void shouldDestroyOnceIfClosedTwice() {
        var lifetime = lifetime("thing");

        lifetime.close();
        lifetime.close();

        assertThat(destroyed).containsExactly("thing");
    }

    @Test
    void shouldWaitForAnotherThreadThatIsClosing() throws Exception {
        var inDestructor = new CountDownLatch(1);
        var proceed = new CountDownLatch(1);
        var lifetime =
                new Lifetime(
                        "thing",
                        List.of(),
                        () -> {
                            inDestructor.countDown();
                            awaitUninterrupted(proceed);
                            destroyed.add("thing");
                        });
        var first = TestThreads.start(lifetime::close);
        inDestructor.await();

        var second = TestThreads.start(lifetime::close).awaitWaiting();

        assertThat(second.task().isDone()).isFalse();
        proceed.countDown();
        assertThat(second.result()).isTrue();
        assertThat(destroyed).containsExactly("thing");
        assertThat(first.result()).isTrue();
    }

    @Test
    void shouldKeepWaitingForAnotherCloserIfInterruptedAndKeepTheStatus() throws Exception {
        var inDestructor = new CountDownLatch(1);
        var proceed = new CountDownLatch(1);
        var lifetime =
                new Lifetime(
                        "thing",
                        List.of(),
                        () -> {
                            inDestructor.countDown();
                            awaitUninterrupted(proceed);
                        });
        var first = TestThreads.start(lifetime::close);
        inDestructor.await();
        var second =
                TestThreads.start(
                                () -> {
                                    lifetime.close();
                                    return Thread.currentThread().isInterrupted();
                                })
                        .awaitWaiting();

        second.thread().interrupt();
        second.awaitWaiting();

        assertThat(second.task().isDone()).isFalse();
        proceed.countDown();
        assertThat(second.result()).isTrue();
        assertThat(first.result()).isTrue();
    }

    @Test
    void shouldCloseDependentsNewestFirst() {
        var owner = lifetime("owner");
        var oldest = lifetime("oldest", owner);
        var middle = lifetime("middle", owner);
        var newest = lifetime("newest", owner);

        owner.close();

        assertThat(destroyed).containsExactly("newest", "middle", "oldest", "owner");
        assertThat(List.of(oldest, middle, newest)).allMatch(Lifetime::isClosed);
    }

    @Test
    void shouldCloseTransitiveDependentsFirst() {
        var device = lifetime("device");
        var domain = lifetime("domain", device);
        var queue = lifetime("queue", device);
        var pair = lifetime("pair", domain, queue);

        device.close();

        assertThat(destroyed).containsExactly("pair", "queue", "domain", "device");
        assertThat(pair.isClosed()).isTrue();
    }

    @Test
    void shouldCloseADependentOnceIfSeveralOwnersAreClosed() {
        var domain = lifetime("domain");
        var queue = lifetime("queue");
        var pair = lifetime("pair", domain, queue);

        queue.close();
        domain.close();

        assertThat(destroyed).containsExactly("pair", "queue", "domain");
        assertThat(pair.isClosed()).isTrue();
    }

    @Test
    void shouldBeClosedBeforeAnOwnerAddedLater() {
        var owner = lifetime("owner");
        var window = lifetime("window", owner);
        var region = lifetime("region", owner);

        window.addOwner(region);
        window.addOwner(region);
        region.close();

        assertThat(destroyed).containsExactly("window", "region");
        assertThat(owner.dependents()).isEmpty();
    }

    @Test
    void shouldBeRemovedFromAnOwnerAddedLaterIfClosedFirst() {
        var owner = lifetime("owner");
        var window = lifetime("window", owner);
        var region = lifetime("region", owner);
        window.addOwner(region);

        window.close();

        assertThat(region.dependents()).isEmpty();
        assertThat(region.isClosed()).isFalse();
    }

    @Test
    void shouldNotDestroyWhileHeld() throws Exception {
        var lifetime = lifetime("thing");
        lifetime.hold();

        var closer = TestThreads.start(lifetime::close).awaitWaiting();

        assertThat(lifetime.isClosed()).isTrue();
        assertThat(destroyed).isEmpty();
        lifetime.release();
        assertThat(closer.result()).isTrue();
        assertThat(destroyed).containsExactly("thing");
    }

    @Test
    void shouldWaitForEveryHold() throws Exception {
        var lifetime = lifetime("thing");
        lifetime.hold();
        lifetime.hold();
        var closer = TestThreads.start(lifetime::close).awaitWaiting();

        lifetime.release();

        closer.awaitWaiting();
        assertThat(destroyed).isEmpty();
        lifetime.release();
        assertThat(closer.result()).isTrue();
    }

    @Test
    void shouldRejectAHoldAfterCloseAndNameTheObject() {
        var lifetime = lifetime("queue pair 17 of rxe0");

        lifetime.close();

        assertThatIllegalStateException()
                .isThrownBy(lifetime::hold)
                .withMessage("queue pair 17 of rxe0 is closed");
    }

    @Test
    void shouldRejectAHoldWhileCloseWaits() throws Exception {
        var lifetime = lifetime("thing");
        lifetime.hold();
        var closer = TestThreads.start(lifetime::close).awaitWaiting();

        assertThatIllegalStateException().isThrownBy(lifetime::hold).withMessage("thing is closed");

        lifetime.release();
        assertThat(closer.result()).isTrue();
    }

    @Test
    void shouldHoldAllOrNone() {
        var open = lifetime("open");
        var closed = lifetime("closed");
        var behind = lifetime("behind");
        closed.close();

        assertThatIllegalStateException()
                .isThrownBy(() -> Lifetime.holdAll(List.of(open, closed, behind)))
                .withMessage("closed is closed");

        open.close(); // would block forever if the lifetime were still held
        behind.close();
        assertThat(destroyed).containsExactly("closed", "open", "behind");
    }

    @Test
    void shouldHoldAllUntilAllAreReleased() throws Exception {
        var all = List.of(lifetime("first"), lifetime("second"));
        Lifetime.holdAll(all);

        var closers = all.stream().map(each -> TestThreads.start(each::close)).toList();

        closers.forEach(TestThreads.Started::awaitWaiting);
        assertThat(destroyed).isEmpty();
        all.forEach(Lifetime::release);
        for (var closer : closers) {
            assertThat(closer.result()).isTrue();
        }
    }

    @Test
    void shouldWaitForACallInsideAGuard() throws Exception {
        var lifetime = lifetime("thing");
        var inside = new CountDownLatch(1);
        var proceed = new CountDownLatch(1);
        var caller =
                TestThreads.start(() -> {
                    var guard = CallGuard.ofCurrentThread();
                    guard.enter();
                    try {
                        var closedAtEntry = lifetime.isClosed();
                        inside.countDown();
                        proceed.await();
                        return closedAtEntry || destroyed.contains("thing");
                    } finally {
                        guard.exit();
                    }
                });
        inside.await();

        var closer = TestThreads.start(lifetime::close).awaitWaiting();

        assertThat(lifetime.isClosed()).isTrue();
        proceed.countDown();
        assertThat(caller.result()).as("destroyed during the call").isFalse();
        assertThat(closer.result()).isTrue();
        assertThat(destroyed).containsExactly("thing");
    }

    @Test
    void shouldLogErrorsOfTheSystemAndCloseTheOwners() {
        var owner = lifetime("owner");
        var unreleased =
                new Lifetime(
                        "unreleased",
                        List.of(owner),
                        () -> {
                            throw new FabricException("ibv_destroy_cq failed: EBUSY (16)");
                        });

        try (var log = new CapturedLog()) {
            owner.close();

            assertThat(log.toString())
                    .contains("WARN", "Cannot close unreleased: ibv_destroy_cq failed: EBUSY (16)");
        }
        assertThat(unreleased.isClosed()).isTrue();
        assertThat(destroyed).containsExactly("owner");
    }

    @Test
    void shouldLogExceptionsOfADestructorAndCloseTheOwners() {
        var owner = lifetime("owner");
        var dependent = lifetime("dependent", owner);
        var faulty =
                new Lifetime(
                        "faulty",
                        List.of(owner),
                        () -> {
                            throw new IllegalArgumentException("a mistake");
                        });

        try (var log = new CapturedLog()) {
            owner.close();

            assertThat(log.toString()).contains("ERROR", "faulty", "a mistake");
        }
        assertThat(List.of(dependent, faulty)).allMatch(Lifetime::isClosed);
        assertThat(destroyed).containsExactly("dependent", "owner");
    }

    @Test
    void shouldNotBlockAnotherCloserIfTheDestructorFails() {
        var lifetime =
                new Lifetime(
                        "faulty",
                        List.of(),
                        () -> {
                            throw new IllegalArgumentException("a mistake");
                        });

        try (var log = new CapturedLog()) {
            lifetime.close();
            assertThat(log.toString()).contains("a mistake");
        }

        lifetime.close(); // would block forever if the first close were not marked as complete
        assertThat(lifetime.isClosed()).isTrue();
    }

    @Test
    void shouldRunCloseCallbacksBeforeWaitingForHolds() {
        var lifetime = lifetime("thing");
        lifetime.hold();
        lifetime.onClose(lifetime::release);

        lifetime.close();

        assertThat(destroyed).containsExactly("thing");
    }

    @Test
    void shouldRunACloseCallbackImmediatelyIfClosed() {
        var lifetime = lifetime("thing");
        lifetime.close();
        var callbacks = new AtomicInteger();

        lifetime.onClose(callbacks::incrementAndGet);

        assertThat(callbacks).hasValue(1);
    }

    @Test
    void shouldDestroyTheObjectIfACloseCallbackFails() {
        var lifetime = lifetime("thing");
        var dependent = lifetime("dependent", lifetime);
        var callbacks = new AtomicInteger();
        lifetime.onClose(() -> {
            throw new IllegalArgumentException("a mistake");
        });
        lifetime.onClose(callbacks::incrementAndGet);

        try (var log = new CapturedLog()) {
            lifetime.close();
            assertThat(log.toString()).contains("thing", "a mistake");
        }

        assertThat(callbacks).hasValue(1);
        assertThat(destroyed).containsExactly("dependent", "thing");
        assertThat(dependent.isClosed()).isTrue();
    }

    @Test
    void shouldReturnIfClosedFromItsOwnDestructor() {
        var self = new AtomicReference<Lifetime>();
        var lifetime =
                new Lifetime(
                        "thing",
                        List.of(),
                        () -> {
                            self.get().close();
                            destroyed.add("thing");
                        });
        self.set(lifetime);

        lifetime.close();

        assertThat(destroyed).containsExactly("thing");
    }

    @Test
    void shouldReturnIfClosedFromItsOwnCloseCallback() {
        var lifetime = lifetime("thing");
        lifetime.onClose(lifetime::close);

        lifetime.close();

        assertThat(destroyed).containsExactly("thing");
    }

    private Lifetime dependentThatClosesItsOwner(Lifetime owner) {
        return new Lifetime(
                "dependent",
                List.of(owner),
                () -> {
                    destroyed.add("dependent");
                    owner.close();
                });
    }

    @Test
    void shouldReturnIfADependentsDestructorClosesTheOwner() {
        var owner = lifetime("owner");
        var dependent = dependentThatClosesItsOwner(owner);

        owner.close();

        assertThat(dependent.isClosed()).isTrue();
        assertThat(destroyed).containsExactly("dependent", "owner");
    }

    @Test
    void shouldCloseDependentsCreatedWhileTheOwnerIsClosing() throws Exception {
        var rounds = 3_000;
        var created = new AtomicInteger();
        var start = new CyclicBarrier(2);
        var owners = new AtomicReference<Lifetime>();
        var closedWhileHeld = new AtomicInteger();
        var creator =
                TestThreads.start(() -> {
                    for (var round = 0; round < rounds; round++) {
                        start.await();
                        var owner = owners.get();
                        for (var offset = 0; offset < round % 200; offset++) {
                            Thread.onSpinWait(); // delays the hold differently in each round
                        }
                        try {
                            owner.hold();
                            try {
                                if (!lifetime("dependent", owner).isClosed()) {
                                    created.incrementAndGet();
                                } else {
                                    closedWhileHeld.incrementAndGet();
                                }
                            } finally {
                                owner.release();
                            }
                        } catch (IllegalStateException _) {
                            // the owner was closed first
                        }
                        start.await();
                    }
                });

        for (var round = 0; round < rounds; round++) {
            destroyed.clear();
            var before = created.get();
            var owner = lifetime("owner");
            owners.set(owner);
            start.await();
            owner.close();
            start.await();
            assertThat(destroyed)
                    .as("round %d", round)
                    .isEqualTo(
                            created.get() > before
                                    ? List.of("dependent", "owner")
                                    : List.of("owner"));
        }

        assertThat(creator.result()).isTrue();
        assertThat(closedWhileHeld).as("closed while its owner was held").hasValue(0);
    }

    @Test
    void shouldDestroyOnceIfThreadsCloseItAndItsOwnersConcurrently() throws Exception {
        for (var round = 0; round < 500; round++) {
            destroyed.clear();
            var left = lifetime("left");
            var right = lifetime("right");
            var both = lifetime("both", left, right);
            var start = new CyclicBarrier(3);

            var closers =
                    List.of(left, right, both).stream()
                            .map(each ->
                                    TestThreads.start(() -> {
                                        start.await();
                                        each.close();
                                        return List.copyOf(destroyed);
                                    }))
                            .toList();

            for (var closer : closers) {
                assertThat(closer.result()).contains("both");
            }
            assertThat(destroyed).containsExactlyInAnyOrder("both", "left", "right");
            assertThat(destroyed.getFirst()).isEqualTo("both");
        }
    }

    @Test
    void shouldReturnIfADestructorClosesTheOwnerInACloseOnAVirtualThread() throws Exception {
        var owner = lifetime("owner");
        var dependent = dependentThatClosesItsOwner(owner);

        var closer = Thread.ofVirtual().start(dependent::close);

        assertThat(closer.join(Duration.ofSeconds(20))).isTrue();
        assertThat(destroyed).containsExactly("dependent", "owner");
    }

    @Test
    void shouldDestroyDependentsBeforeAnOwnerThatACloseCallbackCloses() {
        var device = lifetime("device");
        var domain = lifetime("domain", device);
        var completions = lifetime("completions", device);
        var queuePair = lifetime("queue pair", domain, completions);
        var region = lifetime("region", domain);
        queuePair.onClose(() -> {
            device.close();
            assertThat(region.isClosed()).isTrue();
        });

        queuePair.close();

        assertThat(destroyed)
                .containsExactlyInAnyOrder(
                        "region", "queue pair", "domain", "completions", "device")
                .startsWith("region", "queue pair")
                .endsWith("device");
    }

    @Test
    void shouldLetACloseCallbackCloseAnOwnerThatAnotherThreadIsClosing() throws Exception {
        for (var round = 0; round < 500; round++) {
            destroyed.clear();
            var device = lifetime("device");
            var domain = lifetime("domain", device);
            var queuePair = lifetime("queue pair", domain);
            var start = new CyclicBarrier(2);
            queuePair.onClose(device::close);
            queuePair.onClose(domain::close);

            var closer =
                    TestThreads.start(() -> {
                        start.await();
                        device.close();
                    });
            start.await();
            queuePair.close();

            assertThat(closer.result()).isTrue();
            assertThat(destroyed).containsExactly("queue pair", "domain", "device");
        }
    }

    @Test
    void shouldDestroyTheObjectIfACloseCallbackThrowsAnError() {
        var owner = lifetime("owner");
        var dependent = lifetime("dependent", owner);
        dependent.onClose(() -> {
            throw new AssertionError("a mistake");
        });

        try (var log = new CapturedLog()) {
            owner.close();
            assertThat(log.toString()).contains("dependent", "a mistake");
        }

        assertThat(destroyed).containsExactly("dependent", "owner");
    }

    @Test
    void shouldCompleteACloseThatAnErrorInterruptedInTheNextClose() {
        var owner = lifetime("owner");
        var older = lifetime("older", owner);
        var dependent =
                new Lifetime(
                        "dependent",
                        List.of(owner),
                        () -> {
                            destroyed.add("dependent");
                            throw new OutOfMemoryError("a test");
                        });

        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(owner::close);

        assertThat(dependent.isClosed()).isTrue();
        assertThat(destroyed).containsExactly("dependent");
        assertThatIllegalStateException().isThrownBy(owner::hold);
        owner.close();
        assertThat(destroyed).containsExactly("dependent", "older", "owner");
        assertThat(older.isClosed()).isTrue();
    }

    @Test
    void shouldReleaseCloseCallbacksWhenClosed() {
        var lifetime = lifetime("thing");
        var captured = new WeakReference<>(captureInCallbacks(lifetime));

        lifetime.close();

        for (var i = 0; i < 100 && captured.get() != null; i++) {
            System.gc();
        }
        assertThat(captured.get()).isNull();
        assertThat(lifetime.isClosed()).isTrue(); // still reachable
    }

    private static AtomicInteger captureInCallbacks(Lifetime lifetime) {
        var captured = new AtomicInteger();
        lifetime.onClose(captured::incrementAndGet);
        return captured;
    }

    @Test
    void shouldNotLoseAHoldIfTheStackOverflows() throws Exception {
        var lifetime = lifetime("thing");

        runOnASmallStack(() ->
                overflow(() -> {
                    lifetime.hold();
                    try {
                        assertThat(lifetime.isClosed()).isFalse();
                    } finally {
                        lifetime.release();
                    }
                }));

        lifetime.close(); // waits for holds
        assertThat(destroyed).containsExactly("thing");
    }

    @Test
    void shouldRejectACloseWithoutEnoughStackAndLeaveTheObjectOpen() throws Exception {
        var owner = lifetime("owner");
        var dependent = lifetime("dependent", owner);

        runOnASmallStack(() -> closeAtTheEndOfTheStack(owner));

        assertThat(rejectedCloses).isPositive();
        assertThat(dependent.isClosed()).isTrue();
        assertThat(destroyed).containsExactly("dependent", "owner");
    }

    /** Fills the stack, then tries to close at each depth until close() is no longer rejected. */
    @SuppressWarnings("InfiniteRecursion") // until the stack is full
    private void closeAtTheEndOfTheStack(Lifetime lifetime) {
        try {
            closeAtTheEndOfTheStack(lifetime);
        } catch (StackOverflowError e) {
            // the stack is full
        }
        if (!lifetime.isClosed()) {
            try {
                lifetime.close();
            } catch (StackOverflowError e) {
                rejectedCloses++;
            }
        }
    }

    private static void runOnASmallStack(Runnable task) throws Exception {
        var thread = new Thread(null, task, "small stack", 512 << 10);
        thread.start();
        thread.join();
    }

    /** Runs the action at every depth of the stack, until the stack overflows. */
    private static void overflow(Runnable action) {
        for (var round = 0; round < 100; round++) {
            try {
                descend(action);
            } catch (StackOverflowError e) {
                // expected
            }
        }
    }

    @SuppressWarnings("InfiniteRecursion") // until the stack is full
    private static void descend(Runnable action) {
        action.run();
        descend(action);
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
