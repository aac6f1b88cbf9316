package org.jrdma.tck.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.SisciAssertions.assertFails;

import org.jrdma.sisci.MapOptions;
import org.jrdma.sisci.MapOptions.Flag;
import org.jrdma.sisci.model.SisciError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests loads and stores through mapped segments. */
class MapTest extends AbstractMultiNodeTest {

    private static final long PART = 16 << 10;

    @Test
    void shouldLoadAndStoreInEveryWidth() throws Exception {
        var map = mapOfPeer(SEGMENT, BYTES);

        map.putByte(1, (byte) 0x11);
        map.putShort(2, (short) 0x2222);
        map.putInt(4, 0x4444_4444);
        map.putLong(8, 0x8888_8888_8888_8888L);
        map.putIntRelease(16, 0x1616_1616);
        map.putLongRelease(24, 0x2424_2424_2424_2424L);
        map.flush();

        peer.run(context -> {
            var memory = context.memory(SEGMENT);
            assertThat(memory.getByte(1)).isEqualTo((byte) 0x11);
            assertThat(memory.getShort(2)).isEqualTo((short) 0x2222);
            assertThat(memory.getInt(4)).isEqualTo(0x4444_4444);
            assertThat(memory.getLong(8)).isEqualTo(0x8888_8888_8888_8888L);
            assertThat(memory.getIntAcquire(16)).isEqualTo(0x1616_1616);
            assertThat(memory.getLongAcquire(24)).isEqualTo(0x2424_2424_2424_2424L);
            memory.putByte(33, (byte) 1);
            memory.putShort(34, (short) 2);
            memory.putInt(36, 3);
            memory.putIntRelease(48, 4);
            memory.putLongRelease(40, 5);
        });
        eventually(() -> map.getLongAcquire(40) == 5);
        assertThat(map.getByte(33)).isEqualTo((byte) 1);
        assertThat(map.getShort(34)).isEqualTo((short) 2);
        assertThat(map.getInt(36)).isEqualTo(3);
        assertThat(map.getIntAcquire(48)).isEqualTo(4);
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "READ_ONLY",
                "INTERRUPT",
                "CONDITIONAL_INTERRUPT"
            }, // Tested by StoreTriggeredInterruptTest.
            mode = EnumSource.Mode.EXCLUDE)
    void shouldStoreThroughMapsWithEachFlag(Flag flag) throws Exception {
        peer.run(context -> context.offer(SEGMENT, BYTES));
        try (var remote = node.connect(peer.node(), SEGMENT, TIMEOUT);
                var map = remote.map(MapOptions.WHOLE.with(flag))) {

            map.putInt(0, 1);
            map.putInt(4, 2);
            map.flush();

            assertPeerHas(0, 2L << 32 | 1);
        }
    }

    @Test
    void shouldRejectAStoreIntoAReadOnlyMap() throws Exception {
        peer.run(context -> context.offer(SEGMENT, BYTES).putLongRelease(0, 42));
        try (var remote = node.connect(peer.node(), SEGMENT, TIMEOUT);
                var map = remote.map(MapOptions.WHOLE.with(Flag.READ_ONLY))) {
            assertThat(map.getLong(0)).isEqualTo(42);

            assertThatIllegalArgumentException().isThrownBy(() -> map.putLong(0, 1));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> map.segment().set(TestPattern.LONG, 0, 1));
            assertThat(map.getLong(0)).isEqualTo(42);
        }
    }

    @Test
    void shouldMapAPartOfASegment() throws Exception {
        peer.run(context -> TestPattern.fill(context.offer(SEGMENT, BYTES).segment(), 3));
        try (var remote = node.connect(peer.node(), SEGMENT, TIMEOUT);
                var whole = remote.map();
                var part = remote.map(MapOptions.part(PART, PART))) {
            assertThat(part.byteSize()).isEqualTo(PART);
            assertThat(part.segment().mismatch(whole.segment().asSlice(PART, PART))).isEqualTo(-1);

            part.putLong(8, 42);
            part.flush();

            assertPeerHas(PART + 8, 42);
        }
    }

    @Test
    void shouldRejectAPartBeyondTheSegment() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);

        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> segment.map(MapOptions.part(PART, BYTES)));
        assertThatIllegalArgumentException().isThrownBy(() -> MapOptions.part(-1, 8));
        assertFails(SisciError.OFFSET_ALIGNMENT, () -> segment.map(MapOptions.part(8, PART)));
    }

    @Test
    void shouldRejectAnAccessBeyondTheMap() throws Exception {
        var map = mapOfPeer(SEGMENT, BYTES);

        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> map.putLong(BYTES - 4, 1));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> map.getByte(-1));
    }

    @Test
    void shouldReportWhetherAMapIsLocal() throws Exception {
        var remoteMap = mapOfPeer(SEGMENT, BYTES);
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        var loopbackMap = node.connect(node.id(), SEGMENT, TIMEOUT).map();

        assertThat(remoteMap.isLocal()).isFalse();
        assertThat(loopbackMap.isLocal()).isTrue();
        assertThat(segment.map().isLocal()).isTrue();
        assertThat(remoteMap.ioAddress()).isNotZero();
    }

    @Test
    void shouldHaveAPhysicalAddressAndSyncTheCache() throws Exception {
        var map = mapOfPeer(SEGMENT, BYTES);

        assertThat(map.physicalAddress()).isNotZero();
        map.putLong(64, 42);
        map.flushCache(64, 8);
        map.flush();
        map.invalidateCache(0, BYTES);
        assertPeerHas(64, 42);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> map.flushCache(BYTES - 8, 9));
    }

    @Test
    void shouldMapASegmentOfTheSameNode() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        var own = segment.map();
        try (var remote = node.connect(node.id(), SEGMENT, TIMEOUT);
                var map = remote.map()) {
            map.putLong(8, 42);
            map.flush();

            assertThat(own.getLong(8)).isEqualTo(42);
        }
    }

    @Test
    void shouldAllowSeveralMapsOfAConnection() throws Exception {
        peer.run(context -> context.offer(SEGMENT, BYTES));
        try (var remote = node.connect(peer.node(), SEGMENT, TIMEOUT)) {
            var first = remote.map();
            var second = remote.map();

            first.putLong(0, 1);
            second.putLong(8, 2);
            first.flush();
            first.close();

            second.putLong(16, 3);
            second.flush();
            peer.run(context -> {
                for (var i = 0; i < 3; i++) {
                    assertThat(context.memory(SEGMENT).getLong(8L * i)).isEqualTo(i + 1);
                }
            });
        }
    }

    @Test
    void shouldRejectAccessToTheMemoryAfterClose() throws Exception {
        var map = mapOfPeer(SEGMENT, BYTES);
        var memory = map.segment();

        map.close();

        assertThatIllegalStateException().isThrownBy(() -> map.putLong(0, 1));
        assertThatIllegalStateException().isThrownBy(() -> map.putLongRelease(0, 1));
        assertThatIllegalStateException().isThrownBy(() -> memory.get(TestPattern.LONG, 0));
        assertThatIllegalStateException().isThrownBy(map::flush);
        assertThatIllegalStateException().isThrownBy(map::newSequence);
    }
}
