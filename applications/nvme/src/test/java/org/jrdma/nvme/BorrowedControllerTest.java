package org.jrdma.nvme;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.pcie.BorrowedController;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.BorrowedDevice;
import org.jrdma.sisci.smartio.DeviceFilter;
import org.jrdma.sisci.smartio.SmartIo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the driver on a controller that another node of a software fabric lends. */
@Timeout(60)
class BorrowedControllerTest {

    private static final int NVME_CLASS = 0x010802;

    private TemporarySisciFabric fabric;
    private LendingNode lender;
    private Node node;
    private BorrowedDevice device;
    private BorrowedController access;

    @BeforeEach
    void borrow() throws Exception {
        fabric = TemporarySisciFabric.create();
        lender = new LendingNode(fabric);
        node = Sisci.from(fabric.library()).open();
        var smartIo = SmartIo.of(node);
        var found = smartIo.devices(DeviceFilter.ANY.classCode(NVME_CLASS)).getFirst();
        device = smartIo.borrow(found, BorrowMode.SHARED);
        access = BorrowedController.of(node, device);
    }

    @AfterEach
    void close() throws Exception {
        access.close();
        node.close();
        lender.close();
        fabric.close();
    }

    private NvmeDrive open() throws FabricException {
        return Nvme.open(access, NvmeOptions.DEFAULTS);
    }

    @Test
    void shouldIdentifyABorrowedController() throws Exception {
        try (var drive = open()) {
            assertThat(drive.identity().serialNumber()).isEqualTo("serial 7");
            assertThat(drive.namespaces())
                    .containsExactly(new NvmeNamespace(1, LendingNode.PAGES * 8L, 9));
            assertThat(drive)
                    .asString()
                    .startsWith("NVMe drive on the NVMe controller in device 0x");
        }
    }

    @Test
    void shouldReadWhatItHasWrittenInRandomOrder() throws Exception {
        try (var drive = open()) {
            new VerifiedTransfers(drive, 1, 0, 64, 1).run(500);
            new VerifiedTransfers(drive, 32, 64, LendingNode.PAGES - 64, 2).run(5000);
        }
        assertThat(lender.device().refusedAccesses()).isZero();
    }

    @Test
    void shouldAllocatePagesWithContiguousAddresses() throws Exception {
        var first = access.allocate(3 * 4096 + 1);
        var second = access.allocate(1);
        assertThat(first.memory().byteSize()).isEqualTo(4 * 4096);
        assertThat(first.isContiguous(0, 4)).isTrue();
        assertThat(first.pageAddress(0) % 4096).isZero();
        assertThat(second.pageAddress(0)).isGreaterThan(first.pageAddress(3));
        first.release();
        first.release();
        assertThatIllegalStateException().isThrownBy(() -> first.memory().fill((byte) 1));
        assertThat(second.memory().fill((byte) 1).byteSize()).isEqualTo(4096);
    }

    @Test
    void shouldFreeAllMemoryAndKeepTheDeviceWhenItIsClosed() throws Exception {
        var memory = access.allocate(4096);
        access.close();
        access.close();
        assertThatIllegalStateException().isThrownBy(() -> memory.memory().fill((byte) 1));
        assertThatIllegalStateException().isThrownBy(() -> access.allocate(4096));
        assertThatIllegalStateException()
                .isThrownBy(() -> access.registers().read(MappedRegisters.STATUS));
        assertThat(lender.device().borrowers()).isEqualTo(1);
        try (var again = BorrowedController.of(node, device);
                var drive = Nvme.open(again, NvmeOptions.DEFAULTS)) {
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
        }
        device.close();
        assertThat(lender.device().borrowers()).isZero();
    }

    @Test
    void shouldNotLookLikeALeakWhileItIsInUse() throws Exception {
        var originalErr = System.err;
        var log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, UTF_8)); // slf4j-simple writes to standard error
        try {
            var memory = access.allocate(4096);
            // a report of the second leak follows all reports of the first collection
            for (var id = 1; id <= 2; id++) {
                leakSegment(id);
                var report = "segment %d of %s was never closed".formatted(id, node);
                TemporarySisciFabric.eventually(
                        report,
                        ofSeconds(10),
                        () -> {
                            System.gc();
                            return log.toString(UTF_8).contains(report);
                        });
            }
            assertThat(log.toString(UTF_8)).doesNotContain("device", "map of", "mapping of");
            memory.release();
        } finally {
            System.setErr(originalErr);
        }
    }

    private void leakSegment(int id) throws Exception {
        var _ = node.newSegment(id, 4096);
    }

    @Test
    void shouldReportThatTheDeviceWasWithdrawnWithinASecond() throws Exception {
        try (var drive = open();
                var queue = drive.newQueue(4);
                var memory = drive.newMemory(4096)) {
            lender.device().close();
            // the withdrawal also resets the controller, which the driver reports otherwise
            TemporarySisciFabric.eventually(
                    "loss of the registers",
                    ofSeconds(10),
                    () ->
                            access.registers().read(MappedRegisters.STATUS)
                                    == MappedRegisters.UNREACHABLE);
            var start = System.nanoTime();
            assertThat(queue.read(drive.namespaces().getFirst(), 0, 8, memory, 0, 0)).isTrue();
            assertThatThrownBy(() -> queue.await(ofSeconds(10)))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("is unreachable: its registers read as all ones");
            assertThatThrownBy(drive::smartLog)
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("is unreachable");
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ofSeconds(1));
        }
    }

    @Test
    void shouldDriveAControllerOfAnotherProcess() throws Exception {
        access.close();
        device.close();
        try (var process = SmartIoProcess.start(fabric, lender.deviceId(), null, 0, 1000)) {
            process.begin(2000);
            assertThat(process.result()).isEqualTo("done");
            process.end();
        }
        TemporarySisciFabric.eventually(
                "return of the device", ofSeconds(10), () -> lender.device().borrowers() == 0);
        assertThat(lender.device().refusedAccesses()).isZero();
    }
}
