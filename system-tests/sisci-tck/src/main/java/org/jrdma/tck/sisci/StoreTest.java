package org.jrdma.tck.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.model.SequenceStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the arrival and order of stores. */
class StoreTest extends AbstractMultiNodeTest {

    private static final int ROUNDS = 2_000;
    private static final long PAYLOAD = 4096;
    private static final long ACKNOWLEDGED = 8192;

    private RemoteMap map;

    @BeforeEach
    void map() throws Exception {
        map = mapOfPeer(SEGMENT, BYTES);
    }

    /** A peer that loads the released number must also see the earlier stores. */
    @Test
    void shouldDeliverEarlierStoresBeforeARelease() throws Exception {
        var watching =
                peer.submit(context -> {
                    var memory = context.memory(SEGMENT);
                    for (var i = 1L; i <= ROUNDS; i++) {
                        await(memory, i);
                        for (var offset = 0; offset < 1024; offset += 64) {
                            assertThat(memory.getLong(PAYLOAD + offset)).isEqualTo(i);
                        }
                        memory.putLongRelease(ACKNOWLEDGED, i);
                    }
                    return ROUNDS;
                });
        for (var i = 1L; i <= ROUNDS; i++) {
            for (var offset = 0; offset < 1024; offset += 64) {
                map.putLong(PAYLOAD + offset, i);
            }
            map.putLongRelease(0, i);
            map.flush();
            while (map.getLongAcquire(ACKNOWLEDGED) < i && !watching.isCompletedExceptionally()) {
                Thread.onSpinWait();
            }
        }

        assertThat(watching.get()).isEqualTo(ROUNDS);
    }

    private static void await(LocalMap memory, long value) {
        var end = System.nanoTime() + TIMEOUT.toNanos();
        while (memory.getLongAcquire(0) != value) {
            Thread.onSpinWait();
            assertThat(System.nanoTime()).isLessThan(end);
        }
    }

    @Test
    void shouldCopyToAndFromAMap() throws Exception {
        try (var arena = Arena.ofConfined()) {
            var source = arena.allocate(BYTES - 8);
            TestPattern.fill(source, 5);

            map.copyFrom(source, 8);

            peer.run(context ->
                    assertThat(
                                    TestPattern.holds(
                                            context.memory(SEGMENT).segment().asSlice(8, BYTES - 8),
                                            5))
                            .isTrue());
            var copy = arena.allocate(1000);
            map.copyTo(copy, 8);
            assertThat(copy.mismatch(source)).isEqualTo(1000);
        }
    }

    @Test
    void shouldRejectInvalidCopies() {
        try (var arena = Arena.ofConfined()) {
            var memory = arena.allocate(64);

            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> map.copyFrom(memory, BYTES - 63));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> map.copyFrom(memory, -1));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> map.copyFrom(MemorySegment.ofArray(new byte[8]), 0));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> map.copyTo(memory.asReadOnly(), 0));
        }
    }

    @Test
    void shouldReportThatStoresHaveArrived() throws Exception {
        try (var arena = Arena.ofConfined();
                var sequence = map.newSequence()) {
            var source = arena.allocate(256);
            TestPattern.fill(source, 9);

            assertThat(sequence.start()).isEqualTo(SequenceStatus.OK);
            map.putLong(0, 1);
            assertThat(sequence.check()).isEqualTo(SequenceStatus.OK);
            assertThat(sequence.tryWrite(512, source)).isEqualTo(SequenceStatus.OK);
            assertThat(sequence.write(1024, source, TIMEOUT)).isOne();
            sequence.copyFrom(source, 2048);
            assertThat(sequence.map()).isSameAs(map);

            peer.run(context -> {
                var memory = context.memory(SEGMENT);
                assertThat(memory.getLong(0)).isEqualTo(1);
                for (var offset : new long[] {512, 1024, 2048}) {
                    assertThat(TestPattern.holds(memory.segment().asSlice(offset, 256), 9))
                            .isTrue();
                }
            });
        }
    }

    @Test
    void shouldDrainStoresByFlushAndBarrierOfASequence() throws Exception {
        try (var sequence = map.newSequence(true)) {
            map.putLong(0, 1);
            sequence.flush();
            assertPeerHas(0, 1);

            map.putLong(0, 2);
            sequence.storeBarrier();
            assertPeerHas(0, 2);

            map.putLong(0, 3);
            map.flushCpuBuffers();
            assertPeerHas(0, 3);
        }
    }

    @Test
    void shouldRejectAWriteBeyondTheMapAndLeaveTheMapUntouched() throws Exception {
        try (var sequence = map.newSequence()) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() ->
                            sequence.write(BYTES - 8, MemorySegment.ofArray(new byte[9]), TIMEOUT));
            assertThat(sequence.check()).isEqualTo(SequenceStatus.OK);
        }
    }

    @Test
    void shouldCloseASequenceWithItsMap() throws Exception {
        var sequence = map.newSequence();

        map.close();

        assertThat(sequence.isOpen()).isFalse();
        assertThatIllegalStateException().isThrownBy(sequence::check);
        assertThatIllegalStateException().isThrownBy(sequence::flush);
        assertThatIllegalStateException()
                .isThrownBy(() -> sequence.tryWrite(0, MemorySegment.ofArray(new byte[8])));
    }
}
