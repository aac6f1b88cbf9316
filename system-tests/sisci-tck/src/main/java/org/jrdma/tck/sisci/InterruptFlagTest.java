package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.Refusals.refuses;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.InterruptFlag;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.MapOptions;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

/** Places in a segment of this node where a store of another node interrupts. */
class InterruptFlagTest extends NodesTest {

    private static final long PLACE = 64;

    private LocalSegment segment;
    private LocalMap map;

    @BeforeEach
    void offer() throws Exception {
        segment = node.newSegment(SEGMENT, BYTES);
        map = segment.map();
        segment.offer();
    }

    /** Skips the test where no driver does it: it is of hardware of the first generation. */
    private InterruptFlag flag(boolean conditional) throws Exception {
        try {
            return segment.newInterruptFlag(PLACE, conditional);
        } catch (UnsupportedOperationException e) {
            throw new TestAbortedException(e.getMessage());
        } catch (SisciException e) {
            if (e.error() == SisciError.NOT_IMPLEMENTED
                    || e.error() == SisciError.FLAG_NOT_IMPLEMENTED) {
                throw new TestAbortedException(e.getMessage());
            }
            throw e;
        }
    }

    private void peerMaps(MapOptions.Flag how) throws Exception {
        var here = node.id();
        peer.tell(party -> {
            var remote = party.node().connect(here, SEGMENT, SOON);
            party.keep("map", remote.map(MapOptions.WHOLE.with(how)));
        });
    }

    private void peerStores(int value) throws Exception {
        peer.tell(party -> {
            var remote = party.kept("map", RemoteMap.class);
            remote.putInt(PLACE, value);
            remote.flush();
        });
    }

    private static void isNotTriggered(InterruptFlag flag) {
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> flag.await(ofMillis(50)))
                .withMessageStartingWith("Nobody triggered " + flag);
    }

    @Test
    void shouldInterruptAtEachStoreAndTakeWhatIsStored() throws Exception {
        var flag = flag(false);
        peerMaps(MapOptions.Flag.INTERRUPT);

        peerStores(42);
        flag.await(SOON);
        assertThat(map.getInt(PLACE)).isEqualTo(42);
        peerStores(42);
        flag.await(SOON);
        isNotTriggered(flag);
    }

    @Test
    void shouldInterruptOnceAndCountIfItIsConditional() throws Exception {
        var flag = flag(true);
        peerMaps(MapOptions.Flag.CONDITIONAL_INTERRUPT);

        peerStores(42);
        flag.await(SOON);
        peerStores(42);
        peerStores(0);
        eventually(() -> flag.count() == 3);
        isNotTriggered(flag);

        assertThat(flag.tryEnable()).isTrue();
        assertThat(flag.count()).isZero();
        peerStores(42);
        flag.await(SOON);
        assertThat(flag.count()).isEqualTo(1);
    }

    @Test
    void shouldOnlyCountWhileItIsDisabled() throws Exception {
        var flag = flag(true);
        peerMaps(MapOptions.Flag.CONDITIONAL_INTERRUPT);
        flag.disable();

        peerStores(1);
        peerStores(1);

        eventually(() -> flag.count() == 2);
        isNotTriggered(flag);
        assertThat(flag.tryEnable()).isTrue();
        peerStores(1);
        flag.await(SOON);
    }

    @Test
    void shouldInterruptAtNoOtherPlaceAndThroughNoOtherMap() throws Exception {
        var flag = flag(true);
        peerMaps(MapOptions.Flag.CONDITIONAL_INTERRUPT);
        var here = node.id();

        peer.tell(party -> {
            party.kept("map", RemoteMap.class).putInt(PLACE + 4, 1);
            try (var remote = party.node().connect(here, SEGMENT, SOON);
                    var plain = remote.map()) {
                plain.putInt(PLACE + 8, 1);
                plain.flush();
            }
        });

        eventually(() -> map.getInt(PLACE + 4) == 1 && map.getInt(PLACE + 8) == 1);
        isNotTriggered(flag);
    }

    @Test
    void shouldCallAListenerWhichMayCloseIt() throws Exception {
        var flag = flag(false);
        var called = new Semaphore(0);
        flag.onTrigger(() -> {
            flag.close();
            called.release();
        });
        peerMaps(MapOptions.Flag.INTERRUPT);

        peerStores(1);

        assertThat(called.tryAcquire(5, TimeUnit.SECONDS)).isTrue();
        assertThatIllegalStateException().isThrownBy(flag::count);
    }

    @Test
    void shouldCountOnlyIfItIsConditional() throws Exception {
        var flag = flag(false);

        refuses(SisciError.ILLEGAL_OPERATION, flag::tryEnable);
        refuses(SisciError.ILLEGAL_OPERATION, flag::disable);
        refuses(SisciError.ILLEGAL_OPERATION, flag::count);
    }

    @Test
    void shouldBeAtAWholeWordOfItsSegmentWhereNoOtherIs() throws Exception {
        flag(true).close();
        flag(true); // again

        refuses(SisciError.ILLEGAL_OPERATION, () -> segment.newInterruptFlag(PLACE, true));
        refuses(SisciError.OFFSET_ALIGNMENT, () -> segment.newInterruptFlag(PLACE + 1, true));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> segment.newInterruptFlag(BYTES, true));
    }
}
