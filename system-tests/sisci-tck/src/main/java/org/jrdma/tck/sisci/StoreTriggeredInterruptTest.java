package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.SisciAssertions.assertFails;

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

/**
 * Tests {@code InterruptFlag}, a location in a segment at which a store by a peer interrupts this
 * node. A store by another node at the offset of a flag interrupts this node.
 */
class StoreTriggeredInterruptTest extends AbstractMultiNodeTest {

    private static final long FLAG_OFFSET = 64;

    private LocalSegment segment;
    private LocalMap map;

    @BeforeEach
    void offer() throws Exception {
        segment = node.newSegment(SEGMENT, BYTES);
        map = segment.map();
        segment.offer();
    }

    /**
     * Registers a flag. Skips the test if the driver does not support flags, which are a feature of
     * the first generation of the hardware.
     */
    private InterruptFlag flag(boolean conditional) throws Exception {
        try {
            return segment.newInterruptFlag(FLAG_OFFSET, conditional);
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

    private void peerMaps(MapOptions.Flag flag) throws Exception {
        var localNode = node.id();
        peer.run(context -> {
            var remote = context.node().connect(localNode, SEGMENT, TIMEOUT);
            context.put("map", remote.map(MapOptions.WHOLE.with(flag)));
        });
    }

    private void peerStores(int value) throws Exception {
        peer.run(context -> {
            var remote = context.get("map", RemoteMap.class);
            remote.putInt(FLAG_OFFSET, value);
            remote.flush();
        });
    }

    private static void assertNotTriggered(InterruptFlag flag) {
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> flag.await(ofMillis(50)))
                .withMessageStartingWith("No trigger of " + flag);
    }

    @Test
    void shouldInterruptAtEachStoreAndContainTheStoredValue() throws Exception {
        var flag = flag(false);
        peerMaps(MapOptions.Flag.INTERRUPT);

        peerStores(42);
        flag.await(TIMEOUT);
        assertThat(map.getInt(FLAG_OFFSET)).isEqualTo(42);
        peerStores(42);
        flag.await(TIMEOUT);
        assertNotTriggered(flag);
    }

    @Test
    void shouldInterruptOnceAndCountStoresIfConditional() throws Exception {
        var flag = flag(true);
        peerMaps(MapOptions.Flag.CONDITIONAL_INTERRUPT);

        peerStores(42);
        flag.await(TIMEOUT);
        peerStores(42);
        peerStores(0);
        eventually(() -> flag.count() == 3);
        assertNotTriggered(flag);

        assertThat(flag.tryEnable()).isTrue();
        assertThat(flag.count()).isZero();
        peerStores(42);
        flag.await(TIMEOUT);
        assertThat(flag.count()).isEqualTo(1);
    }

    @Test
    void shouldOnlyCountStoresWhileDisabled() throws Exception {
        var flag = flag(true);
        peerMaps(MapOptions.Flag.CONDITIONAL_INTERRUPT);
        flag.disable();

        peerStores(1);
        peerStores(1);

        eventually(() -> flag.count() == 2);
        assertNotTriggered(flag);
        assertThat(flag.tryEnable()).isTrue();
        peerStores(1);
        flag.await(TIMEOUT);
    }

    @Test
    void shouldNotInterruptAtAnotherOffsetOrThroughAnotherMap() throws Exception {
        var flag = flag(true);
        peerMaps(MapOptions.Flag.CONDITIONAL_INTERRUPT);
        var localNode = node.id();

        peer.run(context -> {
            context.get("map", RemoteMap.class).putInt(FLAG_OFFSET + 4, 1);
            try (var remote = context.node().connect(localNode, SEGMENT, TIMEOUT);
                    var plain = remote.map()) {
                plain.putInt(FLAG_OFFSET + 8, 1);
                plain.flush();
            }
        });

        eventually(() -> map.getInt(FLAG_OFFSET + 4) == 1 && map.getInt(FLAG_OFFSET + 8) == 1);
        assertNotTriggered(flag);
    }

    @Test
    void shouldAllowTheListenerToCloseTheFlag() throws Exception {
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
    void shouldRejectCountAndEnableIfNotConditional() throws Exception {
        var flag = flag(false);

        assertFails(SisciError.ILLEGAL_OPERATION, flag::tryEnable);
        assertFails(SisciError.ILLEGAL_OPERATION, flag::disable);
        assertFails(SisciError.ILLEGAL_OPERATION, flag::count);
    }

    @Test
    void shouldRejectAnInvalidOrUsedOffset() throws Exception {
        flag(true).close();
        flag(true); // The offset can be used again.

        assertFails(
                SisciError.ILLEGAL_OPERATION, () -> segment.newInterruptFlag(FLAG_OFFSET, true));
        assertFails(
                SisciError.OFFSET_ALIGNMENT, () -> segment.newInterruptFlag(FLAG_OFFSET + 1, true));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> segment.newInterruptFlag(BYTES, true));
    }
}
