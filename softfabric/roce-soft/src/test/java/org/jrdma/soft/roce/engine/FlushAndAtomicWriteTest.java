package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.stream.LongStream;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jrdma.soft.roce.packet.FlushHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;

/** Tests FLUSH and ATOMIC WRITE requests of the left side. */
class FlushAndAtomicWriteTest {

    private static final int RIGHTS = EnginePair.ALL | Access.FLUSH_GLOBAL;

    private final EnginePair pair = new EnginePair(Transport.RELIABLE, 1);
    private final EnginePair.Side left = pair.left;
    private final EnginePair.Side right = pair.right;
    private MemoryRegion region = register(RIGHTS);

    private MemoryRegion register(int access) {
        return right.registry.register(right.domain, right.memory, right.start, access);
    }

    private void connect(int access) {
        left.queuePair.reset();
        right.queuePair.reset();
        pair.connect(256, 0xffffff - 3, 14, 7, 7, 4, access);
    }

    private SendWork atomicWrite(long id, long address, int bytes) {
        return left.work(id, SendOperationKind.ATOMIC_WRITE)
                .buffer(left.start, bytes, left.region.key())
                .remote(address, region.key());
    }

    private SendWork flush(long id, int placement, int selectivity, long address, int bytes) {
        return left.work(id, SendOperationKind.FLUSH)
                .remote(address, region.key())
                .flush(placement, selectivity, bytes);
    }

    /** Posts the claimed work request and returns its completion. */
    private EnginePair.Done completionOf(SendWork ignored) {
        left.post();
        pair.run();
        return left.done.getLast();
    }

    @Test
    void shouldExecuteEachOnceAndInOrderDespiteLoss() {
        connect(RIGHTS);
        pair.faults = new EnginePair.Faults(0.1, 0.1, 0.2, 0);
        var id = 0L;
        for (var i = 0; i < 60; i++) {
            left.memory.set(ValueLayout.JAVA_LONG, 8L * i, -1 - i);
            left.work(id++, SendOperationKind.WRITE)
                    .buffer(left.start, 700, left.region.key())
                    .remote(right.start + 4096, region.key());
            left.post();
            flush(id++, FlushHeader.GLOBAL, FlushHeader.RANGE, right.start + 4096, 700);
            left.post();
            left.work(id++, SendOperationKind.ATOMIC_WRITE)
                    .buffer(left.start + 8L * i, 8, left.region.key())
                    .remote(right.start, region.key());
            left.post();
            left.work(id++, SendOperationKind.FETCH_AND_ADD)
                    .buffer(left.start + 8192 + 8L * i, 8, left.region.key())
                    .remote(right.start, region.key())
                    .atomic(-1000, 0); // Detects an ATOMIC WRITE that is executed twice.
            left.post();
        }

        pair.run();

        assertThat(left.done).allMatch(each -> each.status() == CompletionStatus.SUCCESS);
        assertThat(left.done)
                .extracting(EnginePair.Done::id)
                .containsExactlyElementsOf(LongStream.range(0, id).boxed().toList());
        assertThat(left.done.get(1).kind()).isEqualTo(CompletionKind.FLUSH);
        assertThat(left.done.get(2).kind()).isEqualTo(CompletionKind.ATOMIC_WRITE);
        for (var i = 0; i < 60; i++) {
            assertThat(left.memory.get(ValueLayout.JAVA_LONG, 8192 + 8L * i)).isEqualTo(-1 - i);
        }
        assertThat(right.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(-60 - 1000);
        assertThat(left.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void shouldWriteInlineData() {
        connect(RIGHTS);
        left.memory.set(ValueLayout.JAVA_LONG, 0, 42);

        var done =
                completionOf(
                        left.work(1, SendOperationKind.ATOMIC_WRITE)
                                .inline(left.memory.asSlice(0, 8))
                                .remote(right.start + 8, region.key()));

        assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(right.memory.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(42);
    }

    @Test
    void shouldFlushAWholeRegionForAnyRange() {
        connect(RIGHTS);

        assertThat(completionOf(flush(1, FlushHeader.GLOBAL, FlushHeader.REGION, 0, -1)).status())
                .isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void shouldRejectAnAtomicWriteOfOtherThanEightBytes() {
        for (var bytes : new int[] {0, 4, 16}) {
            connect(RIGHTS);
            assertThat(completionOf(atomicWrite(1, right.start, bytes)).status())
                    .isEqualTo(CompletionStatus.LOCAL_LENGTH_ERROR);
        }
    }

    @Test
    void shouldRejectAnAtomicWriteThatIsNotPermittedAndKeepTheMemoryUnchanged() {
        left.memory.set(ValueLayout.JAVA_LONG, 0, -1);

        assertRejected(
                // The address is not aligned.
                RIGHTS, right.start + 4, CompletionStatus.REMOTE_INVALID_REQUEST);
        assertRejected(
                RIGHTS & ~Access.REMOTE_WRITE,
                right.start,
                CompletionStatus.REMOTE_INVALID_REQUEST);
        assertRejected(
                RIGHTS, right.start + EnginePair.REGION, CompletionStatus.REMOTE_ACCESS_ERROR);
        region = register(RIGHTS & ~Access.REMOTE_WRITE);
        assertRejected(RIGHTS, right.start, CompletionStatus.REMOTE_ACCESS_ERROR);

        assertThat(right.memory.asSlice(0, 64).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        assertThat(right.guardsAreIntact()).isTrue();
    }

    private void assertRejected(int queuePairAccess, long address, CompletionStatus status) {
        connect(queuePairAccess);
        assertThat(completionOf(atomicWrite(1, address, 8)).status()).isEqualTo(status);
        assertThat(right.queuePair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void shouldRejectAFlushThatIsNotPermitted() {
        var global = FlushHeader.GLOBAL;
        var range = FlushHeader.RANGE;
        var invalid = CompletionStatus.REMOTE_INVALID_REQUEST;
        var access = CompletionStatus.REMOTE_ACCESS_ERROR;
        var start = right.start;

        assertFlushRejected(RIGHTS & ~Access.FLUSH_GLOBAL, global, range, start, 8, invalid);
        assertFlushRejected(RIGHTS, 0, range, start, 8, invalid);
        assertFlushRejected(RIGHTS, 4, range, start, 8, invalid);
        assertFlushRejected(RIGHTS, global, 2, start, 8, invalid);
        assertFlushRejected(RIGHTS, FlushHeader.PERSISTENT, range, start, 8, invalid);
        assertFlushRejected(
                RIGHTS | Access.FLUSH_PERSISTENT,
                global | FlushHeader.PERSISTENT,
                range,
                start,
                8,
                access); // No region permits persistent flushes.
        assertFlushRejected(RIGHTS, global, range, start + EnginePair.REGION, 8, access);
        region = register(EnginePair.ALL);
        assertFlushRejected(RIGHTS, global, range, start, 8, access);
        assertFlushRejected(RIGHTS, global, FlushHeader.REGION, start, 8, access);
        right.registry.deregister(region);
        assertFlushRejected(RIGHTS, global, FlushHeader.REGION, start, 8, access);
    }

    private void assertFlushRejected(
            int queuePairAccess,
            int placement,
            int selectivity,
            long address,
            int bytes,
            CompletionStatus status) {
        connect(queuePairAccess);
        assertThat(completionOf(flush(1, placement, selectivity, address, bytes)).status())
                .isEqualTo(status);
    }
}
