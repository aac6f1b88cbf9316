package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.jrdma.sisci.smartio.AccessHint;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.BorrowableDevice;
import org.jrdma.sisci.smartio.BorrowedDevice;
import org.jrdma.sisci.smartio.DeviceFilter;
import org.jrdma.sisci.smartio.DeviceSegmentOptions;
import org.jrdma.sisci.smartio.DeviceSegmentSharing;
import org.jrdma.sisci.smartio.SmartIo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the arguments, results and errors of the functions of SmartIO. */
@Timeout(30)
class SmartIoTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** The ids of the devices of the test library. The second uses all 64 bits. */
    private static final long FIRST = 0x801;

    private static final long SECOND = 0xfedcba98_00000802L;

    private FakeLibrary library;
    private Node node;
    private SmartIo smartIo;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary(Kind.WITH_CONSTANTS);
        node = library.sisci.open();
        smartIo = SmartIo.of(node);
    }

    @AfterEach
    void close() {
        node.close();
    }

    private BorrowedDevice borrow() throws Exception {
        return smartIo.borrow(FIRST, BorrowMode.SHARED);
    }

    private LocalSegment preparedSegment() throws Exception {
        var segment = node.newSegment(7, 8192);
        segment.prepare();
        return segment;
    }

    private static void assertFails(SisciError error, FailingCall call) {
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(call::run)
                .extracting(SisciException::error)
                .isEqualTo(error);
    }

    @FunctionalInterface
    private interface FailingCall {
        void run() throws Exception;
    }

    @Test
    void shouldListAllDevices() throws Exception {
        assertThat(smartIo.devices())
                .containsExactly(new BorrowableDevice(FIRST), new BorrowableDevice(SECOND))
                .hasToString("[device 0x801, device 0xfedcba9800000802]");
        assertThat(library.arguments("SCIGetDeviceList"))
                .isEqualTo("sd=1 max=256 vendor=0 device=0 class=0 flags=0");
    }

    @Test
    void shouldListTheDevicesThatMatchAFilter() throws Exception {
        var filter = DeviceFilter.ANY.vendor(0x9234).device(0x91e8).classCode(0xff0000);

        assertThat(smartIo.devices(filter)).containsExactly(new BorrowableDevice(SECOND));
        assertThat(library.arguments("SCIGetDeviceList"))
                .isEqualTo("sd=1 max=256 vendor=9234 device=91e8 class=ff0000 flags=0");
        assertThat(smartIo.devices(filter.classCode(0x010802))).isEmpty();
        assertThat(filter).hasToString("vendor 0x9234, device 0x91e8, class 0xff0000");
        assertThat(DeviceFilter.ANY).hasToString("any device");
    }

    @Test
    void shouldRejectAFilterThatDoesNotFitIntoItsField() {
        assertThatIllegalArgumentException().isThrownBy(() -> filter(0x1_0000, 0, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> filter(0, -1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> filter(0, 0, 0x100_0000));
    }

    private static Object filter(int vendor, int device, int classCode) {
        return new DeviceFilter(vendor, device, classCode);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 255, 256, 257, 1000})
    void shouldListAnyNumberOfDevices(int count) throws Exception {
        library.deviceCount(count);

        assertThat(smartIo.devices()).hasSize(count).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 300})
    void shouldRefuseListsOfIdsThatHave32Bits(int count) {
        library.deviceCount(count);
        library.narrowDeviceIds();

        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> smartIo.devices(DeviceFilter.ANY.vendor(0x1234)))
                .withMessageContaining("stores fabric device ids of 32 bits");
    }

    @Test
    void shouldReturnADeviceIfTheLibraryTruncatesItsId() {
        library.narrowDeviceIds();

        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> smartIo.borrow(SECOND, BorrowMode.SHARED))
                .withMessageContaining("instead of 0xfedcba9800000802");
        assertThat(library.calls("SCIReturnDevice")).isOne();
    }

    @Test
    void shouldReportAnErrorOfTheList() {
        library.fail("SCIGetDeviceList", sisci_h.SCI_ERR_NO_LINK_ACCESS(), 1);

        assertFails(SisciError.NO_LINK, smartIo::devices);
    }

    @Test
    void shouldBorrowADeviceForSharedUse() throws Exception {
        try (var device = smartIo.borrow(new BorrowableDevice(SECOND), BorrowMode.SHARED);
                var other = smartIo.borrow(SECOND, BorrowMode.SHARED)) {
            assertThat(device.id()).isEqualTo(other.id()).isEqualTo(SECOND);
            assertThat(device.mode()).isEqualTo(BorrowMode.SHARED);
            assertThat(device).hasToString("device 0xfedcba9800000802 borrowed by node 4");
            assertThat(library.arguments("SCIBorrowDevice"))
                    .isEqualTo("sd=1 fdid=fedcba9800000802 flags=0");
            assertFails(
                    SisciError.BUSY, () -> smartIo.borrow(SECOND, BorrowMode.EXCLUSIVE).close());
        }
        assertThat(library.arguments("SCIReturnDevice"))
                .isEqualTo("device=fedcba9800000802 flags=0");
    }

    @Test
    void shouldBorrowADeviceForExclusiveUse() throws Exception {
        var device = smartIo.borrow(FIRST, BorrowMode.EXCLUSIVE);

        assertThat(library.arguments("SCIBorrowDevice"))
                .isEqualTo("sd=1 fdid=801 flags=%x".formatted(sisci_h.SCI_FLAG_EXCLUSIVE() << 1));
        assertThat(device.mode()).isEqualTo(BorrowMode.EXCLUSIVE);
        assertFails(SisciError.BUSY, this::borrow);
        device.close();
        borrow().close();
    }

    @Test
    void shouldReportAnUnknownDeviceByTheExportedCode() {
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> smartIo.borrow(0x999, BorrowMode.SHARED))
                .withMessage(
                        "SCIBorrowDevice failed for device 0x999: NO_SUCH_DEVICE (0x40000977). SmartIo.devices() lists the devices that the nodes of the fabric lend.")
                .extracting(SisciException::error)
                .isEqualTo(SisciError.NO_SUCH_DEVICE);
    }

    @Test
    void shouldNotGuessTheCodeOfAnUnknownDevice() throws Exception {
        var withoutConstants = new FakeLibrary(Kind.PLAIN);
        withoutConstants.fail("SCIOpen", 0x40000977, 1);

        assertFails(SisciError.UNKNOWN, withoutConstants.sisci::open);
    }

    @Test
    void shouldRefuseEveryCallIfTheLibraryHasNoSmartIo() throws Exception {
        try (var old = new FakeLibrary(Kind.SINGLE_THREADED).sisci.open()) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> SmartIo.of(old).devices())
                    .withMessageEndingWith("has no function SCIGetDeviceList");
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> SmartIo.of(old).borrow(FIRST, BorrowMode.SHARED))
                    .withMessageEndingWith("has no function SCIBorrowDevice");
        }
    }

    @Test
    void shouldConnectToABar() throws Exception {
        var bar = borrow().bar(0);

        assertThat(library.arguments("SCIConnectDeviceSegment"))
                .isEqualTo(
                        "device=801 id=0 type=1 callback=1 flags=%x"
                                .formatted(sisci_h.SCI_FLAG_USE_CALLBACK() << 1));
        assertThat(bar).hasToString("BAR 0 of device 0x801 borrowed by node 4");
        assertThat(bar.id()).isZero();
        assertThat(bar.nodeId()).isEqualTo(8);
        assertThat(bar.byteSize()).isEqualTo(8192);
        var registers = bar.map(MapOptions.WHOLE.with(MapOptions.Flag.UNCACHED));
        registers.putInt(4096, 42);
        assertThat(registers.getInt(4096)).isEqualTo(42);
    }

    @Test
    void shouldReportTheEventsOfABar() throws Exception {
        var bar = borrow().bar(0);

        library.notifyRemote(sisci_h.SCI_CB_LOST());

        assertThat(bar.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.LOST);
        assertThat(bar.link()).isEqualTo(RemoteSegment.Link.LOST);
    }

    @Test
    void shouldRejectABarThatDoesNotExist() throws Exception {
        var device = borrow();

        assertFails(SisciError.NO_SUCH_SEGMENT, () -> device.bar(5));
        assertThatIllegalArgumentException().isThrownBy(() -> device.bar(6));
        assertThatIllegalArgumentException().isThrownBy(() -> device.bar(-1));
        assertThat(library.calls("SCIConnectDeviceSegment")).isOne();
    }

    @Test
    void shouldRejectADeviceSegmentWithoutASetOfBorrowers() {
        var options = DeviceSegmentOptions.of(12, 4096);

        assertThatThrownBy(() -> options.sharing(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void shouldCreateAndConnectToADeviceSegment() throws Exception {
        var segment =
                borrow().newDeviceSegment(
                                DeviceSegmentOptions.of(12, 4096)
                                        .access(AccessHint.DEVICE_READ)
                                        .access(
                                                AccessHint.HOST_WRITE,
                                                AccessHint.PEER_TO_PEER_WRITE));

        assertThat(library.arguments("SCICreateDeviceSegment"))
                .isEqualTo("device=801 id=12 size=4096 type=2 hints=2b flags=0");
        assertThat(library.arguments("SCIConnectDeviceSegment"))
                .startsWith("device=801 id=12 type=2 callback=1");
        assertThat(segment).hasToString("segment 12 of device 0x801 borrowed by node 4");
        assertThat(segment.byteSize()).isEqualTo(4096);
        assertThat(segment.id()).isEqualTo(12);
    }

    @Test
    void shouldShareADeviceSegmentWithOtherBorrowers() throws Exception {
        var segment =
                borrow().newDeviceSegment(
                                DeviceSegmentOptions.of(13, 4096)
                                        .sharing(DeviceSegmentSharing.SHARED)
                                        .access(AccessHint.MULTIHOST_READ));
        assertThat(library.arguments("SCICreateDeviceSegment"))
                .isEqualTo("device=801 id=13 size=4096 type=4 hints=14 flags=0");

        var other = borrow().connectDeviceSegment(13, DeviceSegmentSharing.SHARED);

        segment.map().putInt(0, 42);
        assertThat(other.map().getInt(0)).isEqualTo(42);
        assertFails(
                SisciError.NO_SUCH_SEGMENT,
                () -> borrow().connectDeviceSegment(13, DeviceSegmentSharing.PRIVATE));
    }

    @Test
    void shouldKeepADeviceSegmentWhoseConnectionFails() throws Exception {
        var device = borrow();
        library.fail("SCIConnectDeviceSegment", sisci_h.SCI_ERR_NOSPC(), 1);

        assertFails(
                SisciError.NO_SPACE,
                () -> device.newDeviceSegment(DeviceSegmentOptions.of(12, 4096)));
        assertThat(device.connectDeviceSegment(12, DeviceSegmentSharing.PRIVATE).isOpen()).isTrue();
        assertThatIllegalArgumentException().isThrownBy(() -> options(0));
    }

    private static Object options(long bytes) {
        return DeviceSegmentOptions.of(12, bytes);
    }

    @Test
    void shouldMapALocalSegment() throws Exception {
        var device = borrow();
        var segment = preparedSegment();

        try (var mapping = device.map(segment, 4096, 512)) {
            assertThat(library.arguments("SCIMapLocalSegmentForDevice"))
                    .isEqualTo("segment=7 adapter=0 device=801 offset=4096 size=512 flags=0");
            assertThat(mapping.ioAddress()).isEqualTo(0x8000_0100_0000_1000L);
            assertThat(mapping.byteSize()).isEqualTo(512);
            assertThat(mapping)
                    .hasToString(
                            "mapping of 512 bytes of segment 7 of node 4 for device 0x801 borrowed by node 4");
            assertFails(SisciError.BUSY, () -> device.map(segment));
        }

        assertThat(library.arguments("SCIUnmapLocalSegmentForDevice"))
                .isEqualTo("segment=7 adapter=0 device=801 flags=0");
        assertThat(device.map(segment).byteSize()).isEqualTo(8192);
    }

    @Test
    void shouldMapARemoteSegment() throws Exception {
        var device = borrow();
        node.newSegment(7, 8192).offer();
        var segment = node.connect(4, 7, TIMEOUT);

        try (var mapping = device.map(segment, 8, 16)) {
            assertThat(library.arguments("SCIMapRemoteSegmentForDevice"))
                    .isEqualTo("segment=7 device=801 offset=8 size=16 flags=0");
            assertThat(mapping.ioAddress()).isEqualTo(0x8000_0100_0000_0008L);
            assertThat(mapping.byteSize()).isEqualTo(16);
            assertFails(SisciError.BUSY, () -> device.map(segment));
        }

        assertThat(library.arguments("SCIUnmapRemoteSegmentForDevice"))
                .isEqualTo("segment=7 device=801 flags=0");
        assertThat(device.map(segment).byteSize()).isEqualTo(8192);
    }

    @Test
    void shouldMapASegmentForSeveralDevices() throws Exception {
        var device = borrow();
        var other = smartIo.borrow(SECOND, BorrowMode.EXCLUSIVE);
        var deviceSegment = other.newDeviceSegment(DeviceSegmentOptions.of(12, 4096));
        var segment = preparedSegment();

        assertThat(device.map(segment).isOpen()).isTrue();
        assertThat(other.map(segment).isOpen()).isTrue();
        assertThat(device.map(deviceSegment).isOpen()).isTrue();
        assertThat(other.map(deviceSegment).isOpen()).isTrue();
    }

    @Test
    void shouldRejectAPartOutsideTheSegmentWithoutACall() throws Exception {
        var device = borrow();
        var segment = preparedSegment();

        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> device.map(segment, 1, 8192));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> device.map(segment, -1, 8));
        assertThatIllegalArgumentException().isThrownBy(() -> device.map(segment, 8, 0));
        assertThat(library.calls("SCIMapLocalSegmentForDevice")).isZero();
    }

    @Test
    void shouldRejectASegmentThatIsNotPrepared() throws Exception {
        var device = borrow();
        var segment = node.newSegment(7, 8192);

        assertFails(SisciError.SEGMENT_NOT_PREPARED, () -> device.map(segment));
        segment.close();
        assertThat(library.calls("SCIUnmapLocalSegmentForDevice")).isZero();
    }

    @Test
    void shouldRejectASegmentOfAnotherLibrary() throws Exception {
        var device = borrow();
        try (var other = new FakeLibrary(Kind.WITH_CONSTANTS).sisci.open()) {
            var segment = other.newSegment(7, 8192);
            segment.prepare();

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> device.map(segment))
                    .withMessageContaining("both objects must belong to the same library");
        }
        assertThat(library.calls("SCIMapLocalSegmentForDevice")).isZero();
    }
}
