package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;

/** Tests atomic writes ({@code ibv_wr_atomic_write}), which write eight bytes. */
class AtomicWriteTest {

    private static final Duration LONG = Duration.ofSeconds(20);
    private static final VarHandle LONG_HANDLE = ValueLayout.JAVA_LONG.varHandle();
    private static final long VALUE = 0x0123_4567_89ab_cdefL;

    private final Fabric fabric = Fabric.underTest();

    private Pair pair() throws VerbsException {
        fabric.needs(Feature.ATOMIC_WRITES);
        return Pair.connected(options -> options.atomicWrites());
    }

    @Test
    void shouldWriteExactlyEightBytes() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            right.fill(0x5a);
            var write = left.queuePair().prepareAtomicWrite(right.region().remote());

            var first = left.complete(write.value(VALUE));
            var second = left.complete(write.value(-2).remoteOffset(24));

            assertThat(List.of(first, second))
                    .allMatch(each -> each.isSuccess())
                    .allMatch(each -> each.kind() == CompletionKind.ATOMIC_WRITE);
            var memory = right.region().segment();
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(VALUE);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 24)).isEqualTo(-2);
            assertThat(right.bytes(8, 16)).containsOnly(0x5a);
            assertThat(right.bytes(32, 100)).containsOnly(0x5a);
        }
    }

    /**
     * Uses an atomic write as a flag: when the peer sees the flag, the data that was written before
     * it must have arrived.
     */
    @Test
    void shouldArriveAfterTheWritesPostedBeforeIt() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            left.fill(7);
            right.fill(0);
            var remote = right.region().remote();
            var data =
                    left.queuePair()
                            .prepareWrite(left.region().slice(0, 20_000), remote.slice(8, 20_000))
                            .signaled(false);
            var flag = left.queuePair().prepareAtomicWrite(remote).value(1).id(42);

            assertThat(left.queuePair().prepareChain(data, flag).tryPost()).isTrue();
            var memory = right.region().segment();
            while ((long) LONG_HANDLE.getVolatile(memory, 0L) != 1) {
                Thread.onSpinWait();
            }

            assertThat(right.bytes(8, 20_000)).containsOnly(7);
            assertThat(left.take(1).getFirst().id()).isEqualTo(42);
        }
    }

    @Test
    void shouldCompleteAsAnAsyncOperation() throws Exception {
        fabric.needs(Feature.ATOMIC_WRITES);
        fabric.needs(Feature.COMPLETION_EVENTS);
        try (var device = fabric.open()) {
            var domain = device.newProtectionDomain();
            var region = domain.newArena(Pair.ALL).region(64);
            var queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(device.newCompletionDispatcher(32))
                                    .atomicWrites());
            queuePair.connect(queuePair.endpoint());

            queuePair.atomicWrite(region.remote().slice(8, 8), VALUE).await(LONG);

            assertThat(region.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(VALUE);
            assertThatThrownBy(() -> queuePair.atomicWrite(region.remote().slice(4, 8), 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldFailForARegionWithoutRemoteWriteAccess() throws VerbsException {
        try (var pair = pair();
                var arena = pair.right().domain().newArena(Access.REMOTE_READ)) {
            var remote = arena.region(64).remote();

            var refused = pair.left().complete(pair.left().queuePair().prepareAtomicWrite(remote));

            assertThat(refused.status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void shouldRejectAnUnalignedOrOutOfBoundsOffset() throws VerbsException {
        try (var pair = pair()) {
            var remote = pair.right().region().remote();
            var write = pair.left().queuePair().prepareAtomicWrite(remote);

            assertThatThrownBy(() -> write.remoteOffset(4))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("multiple of 8");
            assertThatThrownBy(() -> write.remoteOffset(remote.length()))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void shouldRequireAQueuePairCreatedWithAtomicWrites() throws VerbsException {
        try (var pair = Pair.connected()) {
            var remote = pair.right().region().remote();
            assertThatThrownBy(() -> pair.left().queuePair().prepareAtomicWrite(remote))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("atomicWrites()");
        }
    }

    @Test
    void shouldReportThatAtomicWritesAreNotSupported() throws VerbsException {
        fabric.needsLackOf(Feature.ATOMIC_WRITES);
        fabric.needs(Feature.MOVING_DATA);
        try (var device = fabric.open();
                var completions = device.newCompletionQueue(16);
                var domain = device.newProtectionDomain()) {
            var options = QueuePairOptions.reliable(completions).atomicWrites();

            assertThatThrownBy(() -> domain.newQueuePair(options))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageEndingWith(
                            "The device does not support extended posts for this queue pair type, or it does not support all of [ATOMIC_WRITE].");
        }
    }
}
