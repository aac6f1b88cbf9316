package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.LongStream;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.BindRequest;
import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jrdma.soft.roce.memory.MemoryWindow;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests memory windows that are bound to memory of the left side. */
class MemoryWindowTest {

    private static final int ROUNDS = 60;

    private final EnginePair pair = new EnginePair(Transport.RELIABLE, 1);
    private final EnginePair.Side left = pair.left;
    private final EnginePair.Side right = pair.right;
    private MemoryRegion region = register(Access.LOCAL_WRITE | Access.WINDOW_BIND);

    private MemoryRegion register(int access) {
        return left.registry.register(left.domain, left.memory, left.start, access);
    }

    private MemoryWindow window(MemoryWindow.Type type) {
        return left.registry.newWindow(left.domain, type);
    }

    private SendWork bind(long id, MemoryWindow window, int key, int newKey) {
        return left.work(id, SendOperationKind.BIND)
                .bind(
                        new BindRequest(
                                window,
                                key,
                                newKey,
                                region,
                                left.start,
                                4096,
                                Access.REMOTE_WRITE | Access.REMOTE_READ));
    }

    /** Returns the key of a window after {@code binds} more binds. */
    private static int next(int key, int binds) {
        return (key & ~0xff) | (key + binds & 0xff);
    }

    /** Posts the claimed work request of a side and returns its completion. */
    private EnginePair.Done completionOf(EnginePair.Side side, SendWork ignored) {
        side.post();
        pair.run();
        return side.done.getLast();
    }

    private void assertSucceeds(SendWork work) {
        assertThat(completionOf(left, work).status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    private CompletionStatus write(int key) {
        return completionOf(
                        right,
                        right.work(1, SendOperationKind.WRITE)
                                .buffer(right.start, 8, right.region.key())
                                .remote(left.start, key))
                .status();
    }

    @Test
    void shouldExecuteLocalOperationsOnceAndInOrderDespiteLoss() {
        pair.connect(256, 0);
        pair.faults = new EnginePair.Faults(0.1, 0.05, 0.2, 0);
        var window = window(MemoryWindow.Type.TWO);
        left.fill(0, 700, 3);
        var id = 0L;
        for (var i = 0; i < ROUNDS; i++) { // A repeated bind or invalidation would fail.
            var key = next(window.key(), i);
            left.work(id++, SendOperationKind.WRITE)
                    .buffer(left.start, 700, left.region.key())
                    .remote(right.start, right.region.key());
            left.post();
            bind(id++, window, key, next(key, 1));
            left.post();
            left.work(id++, SendOperationKind.INVALIDATE).invalidate(next(key, 1));
            left.post();
            left.work(id++, SendOperationKind.READ)
                    .buffer(left.start + 4096, 700, left.region.key())
                    .remote(right.start, right.region.key());
            left.post();
        }

        pair.run();

        assertThat(left.done).allMatch(each -> each.status() == CompletionStatus.SUCCESS);
        assertThat(left.done)
                .extracting(EnginePair.Done::id)
                .containsExactlyElementsOf(LongStream.range(0, id).boxed().toList());
        assertThat(left.done.subList(0, 4))
                .extracting(EnginePair.Done::kind)
                .containsExactly(
                        CompletionKind.WRITE,
                        CompletionKind.BIND,
                        CompletionKind.INVALIDATE,
                        CompletionKind.READ);
        assertThat(left.holds(4096, 700, right, 0)).isTrue();
    }

    @Test
    void shouldCompleteLocalOperationsAfterUnansweredRequests() {
        pair.connect(256, 0);
        pair.passes = (to, _) -> to == right; // All answers are lost.
        left.work(1, SendOperationKind.WRITE)
                .buffer(left.start, 8, left.region.key())
                .remote(right.start, right.region.key());
        left.post();
        var window = window(MemoryWindow.Type.TWO);
        bind(2, window, window.key(), window.key() + 1);
        left.post();
        pair.run(pair.now + 10_000);
        assertThat(left.done).isEmpty();

        pair.passes = (_, _) -> true;
        pair.run();

        assertThat(left.done).extracting(EnginePair.Done::id).containsExactly(1L, 2L);
        assertThat(left.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void shouldRejectAWindowKeyForLocalMemory() {
        for (var operation : List.of(SendOperationKind.WRITE, SendOperationKind.READ)) {
            reconnect();
            var window = window(MemoryWindow.Type.ONE);
            assertSucceeds(bind(1, window, window.key(), window.key() + 1));

            var done =
                    completionOf(
                            left,
                            left.work(2, operation)
                                    .buffer(left.start, 8, window.key())
                                    .remote(right.start, right.region.key()));

            assertThat(done.status()).isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }

    @Test
    void shouldRejectABindAndChangeNothing() {
        var two = window(MemoryWindow.Type.TWO);
        var one = window(MemoryWindow.Type.ONE);
        var foreignWindow = left.registry.newWindow(new ProtectionDomain(), MemoryWindow.Type.TWO);
        var freed = window(MemoryWindow.Type.TWO);
        left.registry.free(freed);
        var unbindableRegion = register(Access.LOCAL_WRITE);
        var zeroBased =
                left.registry.register(
                        left.domain,
                        left.memory,
                        0,
                        Access.LOCAL_WRITE | Access.WINDOW_BIND | Access.ZERO_BASED);
        var readOnly = register(Access.WINDOW_BIND);
        var deregistered = register(Access.WINDOW_BIND);
        left.registry.deregister(deregistered);
        var foreignRegion =
                left.registry.register(
                        new ProtectionDomain(), left.memory, left.start, Access.WINDOW_BIND);
        var read = Access.REMOTE_READ;

        assertBindRejected(two, two.key() ^ 1, region, left.start, 8, read);
        assertBindRejected(foreignWindow, foreignWindow.key(), region, left.start, 8, read);
        assertBindRejected(freed, freed.key(), region, left.start, 8, read);
        assertBindRejected(two, two.key(), unbindableRegion, left.start, 8, read);
        assertBindRejected(two, two.key(), zeroBased, 0, 8, read);
        assertBindRejected(two, two.key(), readOnly, left.start, 8, Access.REMOTE_WRITE);
        assertBindRejected(two, two.key(), readOnly, left.start, 8, Access.REMOTE_ATOMIC);
        assertBindRejected(two, two.key(), deregistered, left.start, 8, read);
        assertBindRejected(two, two.key(), foreignRegion, left.start, 8, read);
        assertBindRejected(two, two.key(), null, left.start, 8, read);
        assertBindRejected(two, two.key(), region, left.start - 1, 8, read);
        assertBindRejected(two, two.key(), region, left.start, EnginePair.REGION + 1, read);
        assertBindRejected(two, two.key(), region, left.start + EnginePair.REGION, 1, read);
        assertBindRejected(two, two.key(), region, left.start, -1, read);
        assertBindRejected(two, two.key(), region, left.start, Long.MIN_VALUE, read);
        assertBindRejected(two, two.key(), region, left.start, 8, read | Access.WINDOW_BIND);
        assertBindRejected(two, two.key(), region, left.start, 0, read);
        assertBindRejected(one, one.key(), region, left.start, 8, read | Access.ZERO_BASED);
    }

    private void assertBindRejected(
            MemoryWindow window, int key, MemoryRegion target, long at, long bytes, int rights) {
        reconnect();
        var before = window.key();

        var done =
                completionOf(
                        left,
                        left.work(1, SendOperationKind.BIND)
                                .bind(
                                        new BindRequest(
                                                window, key, key + 1, target, at, bytes, rights)));

        assertThat(done.status()).isEqualTo(CompletionStatus.WINDOW_BIND_ERROR);
        assertThat(left.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(window.key()).isEqualTo(before);
        assertThat(window.isBound()).isFalse();
    }

    private void reconnect() {
        left.queuePair.reset();
        right.queuePair.reset();
        pair.connect(1024, 0);
    }

    @Test
    void shouldRejectInvalidationOfKeysThatAreNotWindowsOfTheQueuePair() {
        reconnect();
        var one = window(MemoryWindow.Type.ONE);
        assertSucceeds(bind(1, one, one.key(), one.key() + 1));
        var other = left.newQueuePair(left.domain);
        left.connect(other, right, 0, 14, 7);
        var otherWindow = window(MemoryWindow.Type.TWO);
        other.sends()
                .claim()
                .begin(2, SendOperationKind.BIND)
                .bind(
                        new BindRequest(
                                otherWindow,
                                otherWindow.key(),
                                1,
                                region,
                                left.start,
                                64,
                                Access.REMOTE_READ));
        other.sends().post();
        left.engine.doorbell(other);
        pair.run();
        assertThat(otherWindow.isBound()).isTrue();

        for (var key : new int[] {one.key(), otherWindow.key(), region.key(), one.key() ^ 0x100}) {
            reconnect();
            var done =
                    completionOf(left, left.work(3, SendOperationKind.INVALIDATE).invalidate(key));
            assertThat(done.status()).isEqualTo(CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
            reconnect();
            left.receive(9, 0, 100);
            var sent =
                    completionOf(
                            right,
                            right.work(4, SendOperationKind.SEND)
                                    .buffer(right.start, 8, right.region.key())
                                    .invalidating(key));
            assertThat(sent.status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(left.done.getLast().status())
                    .isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST);
            assertThat(left.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        }
        assertThat(one.isBound()).isTrue();
        assertThat(otherWindow.isBound()).isTrue();
        left.engine.destroy(other);
        assertThat(otherWindow.isBound()).as("bound after its queue pair was destroyed").isFalse();
        assertThat(one.isBound()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldRejectAccessAfterTheRegionIsDeregistered(MemoryWindow.Type type) {
        reconnect();
        var window = window(type);
        assertSucceeds(bind(1, window, window.key(), window.key() + 1));
        assertThat(left.registry.hasWindows(region)).isTrue();
        assertThat(write(window.key())).isEqualTo(CompletionStatus.SUCCESS);

        left.registry.deregister(region);

        assertThat(window.isBound()).isFalse();
        assertThat(write(window.key())).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        reconnect();
        region = register(Access.LOCAL_WRITE | Access.WINDOW_BIND);
        assertSucceeds(bind(2, window, window.key(), window.key() + 1));
        left.registry.free(window);
        assertThat(left.registry.hasWindows(region)).isFalse();
        assertThat(write(window.key())).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldKeepTheUniqueUpperBitsOfTheKeyWhenBound() {
        reconnect();
        var window = window(MemoryWindow.Type.ONE);
        for (var i = 0; i < 100_000; i++) {
            var other = register(Access.WINDOW_BIND);
            assertThat(other.key() >>> 8).isNotEqualTo(window.key() >>> 8).isNotZero();
            left.registry.deregister(other);
        }
        var prefix = window.key() >>> 8;

        assertSucceeds(bind(1, window, window.key(), ~window.key()));

        assertThat(window.key() >>> 8).isEqualTo(prefix);
    }

    @Test
    void shouldBeBoundOverAnUnreliableConnection() {
        var unreliable = new EnginePair(Transport.UNRELIABLE, 1);
        unreliable.connect(256, 0);
        var side = unreliable.left;
        var boundRegion =
                side.registry.register(side.domain, side.memory, side.start, Access.WINDOW_BIND);
        var window = side.registry.newWindow(side.domain, MemoryWindow.Type.TWO);
        for (var id = 0L; id < 3; id++) {
            side.work(2 * id, SendOperationKind.SEND).buffer(side.start, 700, side.region.key());
            side.post();
            side.work(2 * id + 1, SendOperationKind.BIND)
                    .bind(
                            new BindRequest(
                                    window,
                                    window.key(),
                                    1,
                                    boundRegion,
                                    side.start,
                                    8,
                                    Access.REMOTE_READ));
            side.post();
        }

        unreliable.run();

        assertThat(side.done)
                .extracting(EnginePair.Done::status)
                .containsExactly(
                        CompletionStatus.SUCCESS,
                        CompletionStatus.SUCCESS,
                        CompletionStatus.SUCCESS,
                        CompletionStatus.WINDOW_BIND_ERROR, // The window is already bound.
                        CompletionStatus.FLUSHED,
                        CompletionStatus.FLUSHED);
        assertThat(side.queuePair.state()).isEqualTo(QueuePairState.SEND_QUEUE_ERROR);
    }
}
