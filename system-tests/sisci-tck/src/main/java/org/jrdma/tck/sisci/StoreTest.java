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

/** Whether stores arrive, and in which order. */
class StoreTest extends NodesTest {

    private static final int ROUNDS = 2_000;
    private static final long PAYLOAD = 4096;
    private static final long SEEN = 8192;

    private RemoteMap map;

    @BeforeEach
    void map() throws Exception {
        map = mapOfPeer(SEGMENT, BYTES);
    }

    /** Whoever sees the number sees what was stored before it. */
    @Test
    void shouldOrderWhatComesBeforeARelease() throws Exception {
        var watching =
                peer.start(party -> {
                    var memory = party.memory(SEGMENT);
                    for (var i = 1L; i <= ROUNDS; i++) {
                        await(memory, i);
                        for (var offset = 0; offset < 1024; offset += 64) {
                            assertThat(memory.getLong(PAYLOAD + offset)).isEqualTo(i);
                        }
                        memory.putLongRelease(SEEN, i);
                    }
                    return ROUNDS;
                });
        for (var i = 1L; i <= ROUNDS; i++) {
            for (var offset = 0; offset < 1024; offset += 64) {
                map.putLong(PAYLOAD + offset, i);
            }
            map.putLongRelease(0, i);
            map.flush();
            while (map.getLongAcquire(SEEN) < i && !watching.isCompletedExceptionally()) {
                Thread.onSpinWait();
            }
        }

        assertThat(watching.get()).isEqualTo(ROUNDS);
    }

    private static void await(LocalMap memory, long value) {
        var end = System.nanoTime() + SOON.toNanos();
        while (memory.getLongAcquire(0) != value) {
            Thread.onSpinWait();
            assertThat(System.nanoTime()).isLessThan(end);
        }
    }

    @Test
    void shouldCopyToAndFro() throws Exception {
        try (var arena = Arena.ofConfined()) {
            var source = arena.allocate(BYTES - 8);
            Memory.fill(source, 5);

            map.copyFrom(source, 8);

            peer.tell(party ->
                    assertThat(
                                    Memory.holds(
                                            party.memory(SEGMENT).segment().asSlice(8, BYTES - 8),
                                            5))
                            .isTrue());
            var back = arena.allocate(1000);
            map.copyTo(back, 8);
            assertThat(back.mismatch(source)).isEqualTo(1000);
        }
    }

    @Test
    void shouldRefuseToCopyWhatCannotBe() {
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
    void shouldTellThatAllIsWell() throws Exception {
        try (var arena = Arena.ofConfined();
                var sequence = map.newSequence()) {
            var source = arena.allocate(256);
            Memory.fill(source, 9);

            assertThat(sequence.start()).isEqualTo(SequenceStatus.OK);
            map.putLong(0, 1);
            assertThat(sequence.check()).isEqualTo(SequenceStatus.OK);
            assertThat(sequence.tryWrite(512, source)).isEqualTo(SequenceStatus.OK);
            assertThat(sequence.write(1024, source, SOON)).isOne();
            sequence.copyFrom(source, 2048);
            assertThat(sequence.map()).isSameAs(map);

            peer.tell(party -> {
                var memory = party.memory(SEGMENT);
                assertThat(memory.getLong(0)).isEqualTo(1);
                for (var offset : new long[] {512, 1024, 2048}) {
                    assertThat(Memory.holds(memory.segment().asSlice(offset, 256), 9)).isTrue();
                }
            });
        }
    }

    @Test
    void shouldDrainByFlushAndByBarrierOfASequence() throws Exception {
        try (var sequence = map.newSequence(true)) {
            map.putLong(0, 1);
            sequence.flush();
            peerHas(0, 1);

            map.putLong(0, 2);
            sequence.storeBarrier();
            peerHas(0, 2);

            map.putLong(0, 3);
            map.flushCpuBuffers();
            peerHas(0, 3);
        }
    }

    @Test
    void shouldRefuseToWriteBeyondTheMapAndLeaveTheRestAlone() throws Exception {
        try (var sequence = map.newSequence()) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() ->
                            sequence.write(BYTES - 8, MemorySegment.ofArray(new byte[9]), SOON));
            assertThat(sequence.check()).isEqualTo(SequenceStatus.OK);
        }
    }

    @Test
    void shouldEndWithItsMap() throws Exception {
        var sequence = map.newSequence();

        map.close();

        assertThat(sequence.isOpen()).isFalse();
        assertThatIllegalStateException().isThrownBy(sequence::check);
        assertThatIllegalStateException().isThrownBy(sequence::flush);
        assertThatIllegalStateException()
                .isThrownBy(() -> sequence.tryWrite(0, MemorySegment.ofArray(new byte[8])));
    }
}
