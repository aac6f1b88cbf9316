package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SegmentTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private FakeLibrary library;
    private Node node;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary(Kind.WITH_CONSTANTS);
        node = library.sisci.open();
    }

    @AfterEach
    void close() {
        node.close();
    }

    @Test
    void shouldRejectMakeAvailableBeforePrepare() throws Exception {
        var segment = node.newSegment(7, 4096);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(segment::makeAvailable)
                .withMessageStartingWith(
                        "SCISetSegmentAvailable failed for segment 7 of node 4: SEGMENT_NOT_PREPARED");
    }

    @Test
    void shouldRejectAUsedIdAndAnInvalidSize() throws Exception {
        var segment = node.newSegment(7, 4096);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.newSegment(segment.id(), 4096))
                .withMessageContaining("unique among all processes")
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.SEGMENT_ID_USED));
        assertThatIllegalArgumentException().isThrownBy(() -> node.newSegment(8, 0));
    }

    @Test
    void shouldStayOpenIfTheTimeoutOfItsCloseIsMissing() throws Exception {
        var segment = node.newSegment(7, 4096);

        assertThatThrownBy(() -> segment.close(null)).isInstanceOf(NullPointerException.class);

        assertThat(segment.isOpen()).isTrue();
    }

    @Test
    void shouldRejectConnectionsWhenUnavailable() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        segment.makeUnavailable();

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connect(4, 7, Duration.ZERO));
        segment.close();
        assertThat(library.calls("SCISetSegmentUnavailable")).isOne();
    }

    @Test
    void shouldPassAFlagThatTheLibraryExports() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var remote = node.connect(4, 7, TIMEOUT);

        segment.makeUnavailable(0, LocalSegment.DisconnectFlag.FORCE_DISCONNECT);

        assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.LOST);
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> segment.makeUnavailable(0, LocalSegment.DisconnectFlag.NOTIFY))
                .withMessageContaining("SCI_FLAG_NOTIFY");
    }

    @Test
    void shouldNotRegisterACallbackForAPrivateSegment() throws Exception {
        var segment = node.newSegment(SegmentOptions.of(7, 4096).asPrivate());
        segment.prepare();

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(segment::makeAvailable)
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.ILLEGAL_OPERATION));
    }

    @Test
    void shouldUseMemoryOfTheCaller() throws Exception {
        try (var arena = Arena.ofShared();
                var segment =
                        node.newSegment(
                                SegmentOptions.onForeignMemory(7, arena.allocate(8192, 4096)))) {
            segment.offer();
            try (var remote = node.connect(4, 7, TIMEOUT);
                    var map = remote.map()) {
                assertThat(map.byteSize()).isEqualTo(8192);
                map.putLong(8184, 42);
            }
        }
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> SegmentOptions.onForeignMemory(7, MemorySegment.ofArray(new int[9])));
    }

    @Test
    void shouldRemoveTheSegmentIfTheMemoryOfTheCallerIsRejected() throws Exception {
        try (var arena = Arena.ofShared()) {
            var memory = arena.allocate(8192, 4096).asSlice(8, 4096);

            assertThatExceptionOfType(SisciException.class)
                    .isThrownBy(() -> node.newSegment(SegmentOptions.onForeignMemory(7, memory)))
                    .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.ILLEGAL_ADDRESS));
        }
        assertThat(library.calls("SCIRemoveSegment")).isOne();
    }

    @Test
    void shouldShareMemoryWithOtherProcessesOfTheNode() throws Exception {
        var segment = node.newSegment(7, 4096);
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.attach(7))
                .withMessage(
                        "SCIAttachLocalSegment failed for shared segment 7: ACCESS (0x40000921). The segment must exist, and its owner must have shared it.");
        segment.share();

        var attached = node.attach(7);

        assertThat(attached.byteSize()).isEqualTo(4096);
        attached.map().putLong(0, 42);
        assertThat(segment.map().getLong(0)).isEqualTo(42);
    }

    @Test
    void shouldAttachMemoryFromOutsideTheProcess() throws Exception {
        var physical = node.newSegment(SegmentOptions.of(7, 4096).empty());
        physical.attachForeignPhysicalMemory(0x10000);
        physical.map().putLong(0, 42);

        var device = node.newSegment(SegmentOptions.of(8, 4096).empty());
        device.attachForeignDeviceMemory(0x20000);
        assertThat(device.map().getLong(0)).isEqualTo(42);
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> device.attachForeignDeviceMemory(0x20001));
    }

    @Test
    void shouldRejectMakeAvailableIfPreparedAsDmaSource() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.prepareAsDmaSource(0);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(segment::makeAvailable)
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.SEGMENT_NOT_PREPARED));
    }

    @Test
    void shouldReturnTheIoAddressesOfSegments() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();

        assertThat(segment.ioAddress()).isEqualTo(0x100000007L);
        assertThat(node.connect(4, 7, TIMEOUT).ioAddress()).isEqualTo(0x200000007L);
    }

    @Test
    void shouldStoreAndLoadWithEveryWidth() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var targetMap = segment.map();

        try (var remote = node.connect(4, 7, TIMEOUT);
                var map = remote.map()) {
            map.putByte(1, (byte) 1);
            map.putShort(2, (short) 2);
            map.putInt(4, 3);
            map.putLong(8, 4);
            map.putIntRelease(16, 5);
            map.putLongRelease(24, 6);

            assertThat(targetMap.getByte(1)).isEqualTo((byte) 1);
            assertThat(targetMap.getShort(2)).isEqualTo((short) 2);
            assertThat(targetMap.getInt(4)).isEqualTo(3);
            assertThat(targetMap.getLong(8)).isEqualTo(4);
            assertThat(targetMap.getIntAcquire(16)).isEqualTo(5);
            assertThat(targetMap.getLongAcquire(24)).isEqualTo(6);
            assertThat(library.calls("SCIFlush")).as("before each release").isEqualTo(2);
        }
        targetMap.putLongRelease(0, 1); // stores into a local map are not flushed
        targetMap.putIntRelease(0, 1);
        assertThat(library.calls("SCIFlush")).isEqualTo(2);
    }

    @Test
    void shouldStoreIntoAnUncachedMapWithEveryWidth() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var targetMap = segment.map();

        var map = node.connect(4, 7, TIMEOUT).map(MapOptions.WHOLE.with(MapOptions.Flag.UNCACHED));
        map.putByte(1, (byte) 1);
        map.putShort(2, (short) 2);
        map.putInt(4, 3);
        map.putLong(8, 4);

        assertThat(targetMap.getLong(0)).isEqualTo(0x0000_0003_0002_0100L);
        assertThat(targetMap.getLong(8)).isEqualTo(4);
    }

    @Test
    void shouldRejectAnAccessBeyondAMap() throws Exception {
        var segment = node.newSegment(7, 8192);
        var map = segment.map(MapOptions.part(4096, 4096));
        map.putLong(4088, 42);

        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> map.putLong(4089, 1));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> map.getByte(-1));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> segment.map(MapOptions.part(4096, 4097)));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> segment.map(MapOptions.part(8192, MapOptions.TO_THE_END)));
        assertThatIllegalArgumentException().isThrownBy(() -> MapOptions.part(-1, 8));
        assertThatIllegalArgumentException().isThrownBy(() -> MapOptions.part(0, 0));
        assertThat(segment.map().getLong(8184)).isEqualTo(42);
    }

    @Test
    void shouldRejectAStoreIntoAReadOnlyMap() throws Exception {
        var segment = node.newSegment(7, 4096);
        var map = segment.map(MapOptions.WHOLE.with(MapOptions.Flag.READ_ONLY));

        assertThat(map.getLong(0)).isZero();
        assertThat(map.segment().isReadOnly()).isTrue();
        assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> map.putLong(0, 1));
    }

    @Test
    void shouldMakeTheMemoryInaccessibleWhenTheMapIsClosed() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var map = node.connect(4, 7, TIMEOUT).map();
        var memory = map.segment();

        map.close();

        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> memory.fill((byte) 1));
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> map.putLong(0, 1));
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> map.putLongRelease(0, 1))
                .withMessageEndingWith("is closed");
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(map::flush);
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(map::newSequence);
    }

    @Test
    void shouldQueryTheAddressesOfAMap() throws Exception {
        var map = node.newSegment(7, 4096).map();

        assertThat(map.ioAddress()).isEqualTo(0x123456789aL);
        assertThat(map.physicalAddress()).isEqualTo(0x300000000aL);
    }

    @Test
    void shouldSyncTheCache() throws Exception {
        var map = node.newSegment(7, 4096).map();

        map.flushCache(64, 100);
        map.invalidateCache(128, 50);

        assertThat(map.getByte(64)).as("flushed").isEqualTo((byte) 1);
        assertThat(map.getByte(65)).as("number of bytes").isEqualTo((byte) 100);
        assertThat(map.getByte(128)).as("invalidated").isEqualTo((byte) 2);
        assertThat(map.getByte(129)).as("number of bytes").isEqualTo((byte) 50);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> map.flushCache(4096, 1));
    }

    @Test
    void shouldRetryTheCloseWhileTheLibraryIsBusy() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        library.fail("SCISetSegmentUnavailable", sisci_h.SCI_ERR_BUSY(), 3);
        library.fail("SCIRemoveSegment", sisci_h.SCI_ERR_BUSY(), 5);

        segment.close();

        assertThat(library.calls("SCISetSegmentUnavailable")).isEqualTo(4);
        assertThat(library.calls("SCIRemoveSegment")).isEqualTo(6);
    }

    @Test
    void shouldStopRetryingTheCloseAfterTheTimeout() throws Exception {
        var segment = node.newSegment(7, 4096);
        library.fail("SCIRemoveSegment", sisci_h.SCI_ERR_BUSY(), Integer.MAX_VALUE);

        var begin = System.nanoTime();
        segment.close(Duration.ofMillis(50));

        assertThat(System.nanoTime() - begin).isBetween(50_000_000L, 4_000_000_000L);
        assertThat(segment.isOpen()).isFalse();
        library.fail("SCIRemoveSegment", sisci_h.SCI_ERR_BUSY(), 0);
    }

    @Test
    void shouldRetryAFailedCloseWhenTheNodeIsClosed() throws Exception {
        var segment = node.newSegment(7, 4096);
        library.fail("SCIRemoveSegment", sisci_h.SCI_ERR_BUSY(), 1);
        segment.close(Duration.ZERO);
        assertThat(library.calls("SCIRemoveSegment")).isOne();

        node.close();

        assertThat(library.calls("SCIRemoveSegment")).isEqualTo(2);
        assertThat(library.calls("SCITerminate")).isOne();
    }

    @Test
    @Tag("slow")
    void shouldRetryFailedClosesOfDependentsBeforeThoseOfOwners() throws Exception {
        node.newSegment(7, 4096).offer();
        var remote = node.connect(4, 7, TIMEOUT);
        var map = remote.map();
        library.fail("SCIUnmapSegment", sisci_h.SCI_ERR_BUSY(), 1);
        map.close(Duration.ZERO);
        remote.close(Duration.ZERO);
        assertThat(library.calls("SCIDisconnectSegment")).isOne();

        node.close();

        assertThat(library.calls("SCIUnmapSegment")).isEqualTo(2);
        assertThat(library.calls("SCIDisconnectSegment")).isEqualTo(2);
    }

    @Test
    void shouldApplyTheTimeoutOnceToAllStepsOfAClose() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        segment.prepare(1);
        segment.makeAvailable(1);
        library.fail("SCISetSegmentUnavailable", sisci_h.SCI_ERR_BUSY(), Integer.MAX_VALUE);

        var begin = System.nanoTime();
        segment.close(Duration.ofSeconds(1));

        assertThat(System.nanoTime() - begin).isLessThan(1_900_000_000L);
        assertThat(library.calls("SCIRemoveSegment")).as("number of removals").isOne();
    }

    @Test
    void shouldKeepMemoryOfTheCallerReachable() throws Exception {
        var memory = Arena.ofAuto().allocate(4096, 4096);
        var reachable = new WeakReference<>(memory);
        var segment = node.newSegment(SegmentOptions.onForeignMemory(7, memory));
        memory = null;
        library.fail("SCIRemoveSegment", sisci_h.SCI_ERR_BUSY(), 1);

        System.gc();
        assertThat(reachable.get()).as("while it is open").isNotNull();
        segment.close(Duration.ZERO);
        System.gc();
        assertThat(reachable.get()).as("after a failed close").isNotNull();
    }

    @Test
    void shouldKeepTheInterruptStatusWhileItRetriesTheClose() throws Exception {
        var segment = node.newSegment(7, 4096);
        library.fail("SCIRemoveSegment", sisci_h.SCI_ERR_BUSY(), 4);

        Thread.currentThread().interrupt();
        segment.close();

        assertThat(Thread.interrupted()).isTrue();
        assertThat(library.calls("SCIRemoveSegment")).as("number of attempts").isEqualTo(5);
    }

    @Test
    void shouldReportConnectsAndDisconnects() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        node.connect(4, 7, TIMEOUT).close();

        var connected = segment.nextEvent(TIMEOUT);
        var disconnected = segment.nextEvent(TIMEOUT);

        assertThat(connected.type()).isEqualTo(SegmentEvent.Type.CONNECTED);
        assertThat(connected.node()).hasValue(4);
        assertThat(connected.adapter()).hasValue(0);
        assertThat(disconnected.type()).isEqualTo(SegmentEvent.Type.DISCONNECTED);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> segment.nextEvent(Duration.ofMillis(1)))
                .withMessage("No event of segment 7 of node 4 within 0.001s");
    }

    @Test
    void shouldReportTheStateOfTheLink() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var remote = node.connect(4, 7, TIMEOUT);
        assertThat(remote.link()).isEqualTo(RemoteSegment.Link.OPERATIONAL);

        library.notifyRemote(sisci_h.SCI_CB_NOT_OPERATIONAL());
        assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.NOT_OPERATIONAL);
        assertThat(remote.link()).isEqualTo(RemoteSegment.Link.NOT_OPERATIONAL);

        library.notifyRemote(sisci_h.SCI_CB_OPERATIONAL());
        assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.OPERATIONAL);
        assertThat(remote.link()).isEqualTo(RemoteSegment.Link.OPERATIONAL);

        library.notifyRemote(sisci_h.SCI_CB_LOST());
        assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.LOST);
        assertThat(remote.link()).isEqualTo(RemoteSegment.Link.LOST);

        library.notifyRemote(99);
        assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.UNKNOWN);
    }

    @Test
    void shouldCallListenersInOrderOnAJavaThread() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var received = new ArrayBlockingQueue<String>(10);
        segment.onEvent(
                event -> received.add(event.type() + " " + Thread.currentThread().isVirtual()));

        node.connect(4, 7, TIMEOUT).close();

        assertThat(received.poll(5, TimeUnit.SECONDS)).isEqualTo("CONNECTED true");
        assertThat(received.poll(5, TimeUnit.SECONDS)).isEqualTo("DISCONNECTED true");
    }

    @Test
    void shouldContinueAfterAnExceptionOfAListener() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var received = new CountDownLatch(2);
        segment.onEvent(_ -> {
            received.countDown();
            throw new IllegalArgumentException("thrown by a listener");
        });

        node.connect(4, 7, TIMEOUT).close();

        assertThat(received.await(5, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldContinueAfterAnErrorOfAListener() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var received = new CountDownLatch(2);
        segment.onEvent(_ -> {
            received.countDown();
            throw new AssertionError("thrown by a listener");
        });

        node.connect(4, 7, TIMEOUT).close();

        assertThat(received.await(5, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldAllowAListenerToCloseItsSegment() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var remote = node.connect(4, 7, TIMEOUT);
        var closed = new CountDownLatch(1);
        remote.onEvent(_ -> {
            remote.close();
            closed.countDown();
        });

        library.notifyRemote(sisci_h.SCI_CB_LOST());

        assertThat(closed.await(5, TimeUnit.SECONDS)).isTrue();
        assertThat(library.calls("SCIDisconnectSegment")).isOne();
    }

    @Test
    void shouldDropEventsAfterClose() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var remote = node.connect(4, 7, TIMEOUT);
        var openRemote = node.connect(4, 7, TIMEOUT);
        library.hold(true);
        library.notifyRemote(sisci_h.SCI_CB_LOST());
        remote.close();
        library.hold(false);

        assertThat(openRemote.nextEvent(TIMEOUT).type())
                .isEqualTo(SegmentEvent.Type.LOST); // follows the event of the closed segment
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> remote.nextEvent(TIMEOUT));
    }

    @Test
    void shouldEndAWaitOnAThreadInterruptAndOnClose() throws Exception {
        var segment = node.newSegment(7, 4096);
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> segment.nextEvent(TIMEOUT));
        assertThat(Thread.interrupted()).isTrue();

        var waiting = Thread.currentThread();
        Thread.startVirtualThread(() -> {
            while (waiting.getState() != Thread.State.TIMED_WAITING) {
                Thread.onSpinWait();
            }
            segment.close();
        });
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> segment.nextEvent(TIMEOUT))
                .withMessageContaining("is closed");
    }
}
