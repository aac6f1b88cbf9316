package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.Capabilities;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.jrdma.nvme.pcie.DmaAllocation;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.nvme.soft.VolatileStorage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Start and close of a drive, its description, and failures of the controller. */
@Timeout(60)
class NvmeDriveStartAndCloseTest {

    private static final NvmeOptions QUICK = NvmeOptions.DEFAULTS.adminTimeout(ofMillis(200));

    private final DriveHarness harness = new DriveHarness();

    @AfterEach
    void close() {
        harness.close();
    }

    @Test
    void shouldDescribeTheDrive() throws Exception {
        try (var drive = harness.open()) {
            assertThat(drive.identity().serialNumber()).isEqualTo("serial 7");
            assertThat(drive.identity().modelNumber()).isEqualTo("jrdma drive");
            assertThat(drive.namespaces())
                    .containsExactly(
                            new NvmeNamespace(1, DriveHarness.BLOCKS, 9),
                            new NvmeNamespace(2, 1000, 12));
            assertThat(drive.namespaces().get(1).bytes()).isEqualTo(4_096_000);
            assertThat(drive.maxTransferBytes()).isEqualTo(512 << 10);
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
            assertThat(drive).hasToString("NVMe drive on the test controller");
        }
    }

    @Test
    void shouldStopTheControllerAndFreeAllMemoryWhenItIsClosed() throws Exception {
        var drive = harness.open();
        var queue = drive.newQueue(4);
        var memory = drive.newMemory(1);
        assertThat(memory.segment().byteSize()).isEqualTo(4096);
        assertThat(harness.allocated()).isEqualTo(3);
        drive.close();
        drive.close();
        assertThat(harness.registers().read(MappedRegisters.STATUS)).isZero();
        assertThat(harness.allocated()).isZero();
        assertThatThrownBy(() -> drive.newQueue(4)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> drive.newMemory(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(drive::smartLog).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(queue::next).isInstanceOf(IllegalStateException.class);
        memory.close();
        queue.close();
    }

    @Test
    void shouldCloseInAnyOrder() throws Exception {
        for (var order = 0; order < 6; order++) {
            var drive = harness.open();
            var closeables = new ArrayList<AutoCloseable>();
            closeables.add(order / 2 == 0 ? drive.newMemory(4096) : drive.newQueue(8));
            closeables.add(order / 2 == 1 ? drive.newMemory(4096) : drive.newQueue(8));
            closeables.add(order % 2, drive);
            for (var closeable : closeables) {
                closeable.close();
            }
            drive.close();
            assertThat(harness.allocated()).isZero();
        }
    }

    @Test
    void shouldTakeOverAControllerThatAnotherDriverLeftEnabled() throws Exception {
        var abandoned = harness.open();
        var queue = abandoned.newQueue(4);
        try (var drive = harness.open();
                var _ = drive.newQueue(4)) {
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
        }
        assertThat(queue.flush(abandoned.namespaces().getFirst(), 0)).isTrue();
        assertThatThrownBy(() -> queue.await(ofSeconds(10)))
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("stopped by another program");
        abandoned.close();
    }

    @Test
    void shouldNotStopAControllerThatAnotherDriverUsesWhenItIsClosed() throws Exception {
        var abandoned = Nvme.open(harness, QUICK);
        try (var drive = harness.open()) {
            abandoned.close();
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
        }
        assertThat(harness.allocated()).isZero();
    }

    @Test
    void shouldTakeOverAControllerWhoseStartFailed() throws Exception {
        harness.registers().write(MappedRegisters.CONFIGURATION, Configuration.ENABLED.encode());
        while ((harness.registers().read(MappedRegisters.STATUS) & MappedRegisters.FATAL) == 0) {
            Thread.onSpinWait();
        }
        try (var drive = harness.open()) {
            assertThat(drive.namespaces()).hasSize(2);
        }
    }

    @Test
    void shouldCreateAsManyQueuesAsTheControllerHas() throws Exception {
        try (var drive = Nvme.open(harness, NvmeOptions.DEFAULTS.queues(2))) {
            var first = drive.newQueue(1);
            try (var _ = drive.newQueue(1022)) {
                assertThatThrownBy(() -> drive.newQueue(1))
                        .isInstanceOf(NvmeException.class)
                        .hasMessageContaining("all 2 queues of the test controller are in use");
            }
            first.close();
            try (var _ = drive.newQueue(3);
                    var _ = drive.newQueue(3)) {
                assertThat(harness.allocated()).isEqualTo(3);
            }
            assertThat(harness.allocated()).isEqualTo(1);
        }
    }

    @Test
    void shouldRejectInvalidArguments() throws Exception {
        assertThatThrownBy(() -> NvmeOptions.DEFAULTS.queues(0))
                .isInstanceOf(IllegalArgumentException.class);
        try (var drive = harness.open()) {
            for (var depth : new int[] {0, -1, 1023, Integer.MAX_VALUE}) {
                assertThatThrownBy(() -> drive.newQueue(depth))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("from 1 to 1022");
            }
            assertThatThrownBy(() -> drive.newMemory(0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldReportATimeoutOfAnAdminCommandAndContinueLater() throws Exception {
        try (var drive = Nvme.open(harness, QUICK)) {
            harness.stopController();
            assertThatThrownBy(drive::smartLog)
                    .isInstanceOf(FabricTimeoutException.class)
                    .hasMessage("the test controller did not complete SMART log within 0.2s");
            assertThatThrownBy(() -> drive.newQueue(1)).isInstanceOf(FabricTimeoutException.class);
            harness.resumeController();
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
        }
    }

    @Test
    void shouldReportAQueueThatTheControllerHasNotDeleted() throws Exception {
        try (var drive = Nvme.open(harness, QUICK)) {
            var deleted = drive.newQueue(4);
            var abandoned = drive.newQueue(4);
            var unreachable = drive.newQueue(4);
            deleted.close();
            harness.stopController();
            abandoned.close();
            harness.registers().write(MappedRegisters.STATUS, MappedRegisters.UNREACHABLE);
            unreachable.close();
            harness.registers().write(MappedRegisters.STATUS, MappedRegisters.READY);
            harness.resumeController();

            assertThat(deleted.isAbandoned()).isFalse();
            assertThat(abandoned.isAbandoned()).isTrue();
            assertThat(unreachable.isAbandoned()).isTrue();
        }
    }

    @Test
    void shouldKeepTheMemoryOfAControllerThatDoesNotStop() throws Exception {
        var drive = Nvme.open(harness, QUICK);
        var queue = drive.newQueue(4);
        var memory = drive.newMemory(4096);
        harness.stopController();
        assertThat(queue.read(drive.namespaces().getFirst(), 0, 8, memory, 0, 0)).isTrue();
        drive.close();
        memory.close();
        assertThat(harness.allocated()).isEqualTo(3);
        harness.resumeController();
        harness.close();
        assertThat(harness.allocated()).isZero();
    }

    @Test
    void shouldReportAFatalErrorAtOnce() throws Exception {
        try (var drive = harness.open()) {
            var queue = drive.newQueue(4);
            harness.registers()
                    .write(MappedRegisters.STATUS, MappedRegisters.READY | MappedRegisters.FATAL);
            assertThatThrownBy(drive::smartLog)
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("reports a fatal error (CSTS 0x3)");
            assertThatThrownBy(() -> queue.await(ofSeconds(1)))
                    .isInstanceOf(IllegalStateException.class);
        }
        assertThat(harness.allocated()).isZero();
    }

    @Test
    void shouldReportAnInterruptAndContinueAfterwards() throws Exception {
        try (var drive = harness.open()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(drive::smartLog)
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("Interrupted");
            assertThat(Thread.interrupted()).isTrue();
            assertThat(drive.smartLog().temperatureKelvin()).isEqualTo(300);
            Thread.currentThread().interrupt();
        }
        assertThat(Thread.interrupted()).isTrue();
        assertThat(harness.allocated()).isZero();
    }

    @Test
    void shouldCompleteACloseThatIsInterruptedWhileItWaits() throws Exception {
        var drive = harness.open();
        harness.stopController();
        var wasInterrupted = new CompletableFuture<Boolean>();
        var closer =
                Thread.ofPlatform()
                        .start(() -> {
                            drive.close();
                            wasInterrupted.complete(Thread.interrupted());
                        });
        while (Configuration.decode(harness.registers().read(MappedRegisters.CONFIGURATION))
                        .shutdown()
                == 0) {
            Thread.onSpinWait();
        }
        closer.interrupt();
        harness.resumeController();
        assertThat(wasInterrupted.get(30, TimeUnit.SECONDS)).isTrue();
        assertThat(harness.registers().read(MappedRegisters.STATUS)).isZero();
        assertThat(harness.allocated()).isZero();
    }

    @Test
    void shouldReuseTheIdAndTheMemoryOfAQueueWhoseCreationDidNotStart() throws Exception {
        try (var drive = Nvme.open(harness, QUICK.queues(1))) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> drive.newQueue(1)).hasMessageContaining("Interrupted");
            assertThat(Thread.interrupted()).isTrue();
            harness.stopController();
            assertThatThrownBy(drive::smartLog).isInstanceOf(FabricTimeoutException.class);
            assertThatThrownBy(() -> drive.newQueue(1)).isInstanceOf(FabricTimeoutException.class);
            assertThat(harness.allocated()).isEqualTo(1);
            harness.resumeController();
            try (var queue = drive.newQueue(1)) {
                assertThat(queue.pending()).isZero();
            }
        }
    }

    @Test
    void shouldKeepTheMemoryOfAQueueWhoseCreationDidNotComplete() throws Exception {
        try (var drive = Nvme.open(harness, QUICK.queues(1))) {
            harness.stopController();
            assertThatThrownBy(() -> drive.newQueue(1)).isInstanceOf(FabricTimeoutException.class);
            assertThat(harness.allocated()).isEqualTo(2);
            harness.resumeController();
        }
        assertThat(harness.allocated()).isZero();
    }

    /** Registers that no controller serves. */
    private static final class DeadController implements ControllerAccess {

        private final MappedRegisters registers =
                new MappedRegisters(Arena.ofAuto().allocate(0x4000, 4096));

        @Override
        public MappedRegisters registers() {
            return registers;
        }

        @Override
        public DmaAllocation allocate(long bytes) {
            return new DmaAllocation(
                    Arena.ofAuto().allocate(bytes, 4096),
                    DmaAllocation.contiguous(4096, bytes),
                    () -> {});
        }

        @Override
        public String toString() {
            return "the dead controller";
        }

        @Override
        public void close() {}
    }

    private static Capabilities capabilities(boolean nvm, int minPageShift) {
        return new Capabilities(1024, true, 500, 4, nvm, minPageShift, 16);
    }

    @Test
    @Tag("slow")
    void shouldReportAControllerThatDoesNotBecomeReady() {
        try (var dead = new DeadController()) {
            dead.registers.writeLong(MappedRegisters.CAPABILITIES, capabilities(true, 12).encode());
            assertThatThrownBy(() -> Nvme.open(dead, QUICK))
                    .isInstanceOf(FabricTimeoutException.class)
                    .hasMessage("the dead controller did not become ready within 1s");
            dead.registers.write(MappedRegisters.STATUS, MappedRegisters.READY);
            assertThatThrownBy(() -> Nvme.open(dead, QUICK))
                    .isInstanceOf(FabricTimeoutException.class)
                    .hasMessage("the dead controller did not complete its reset within 1s");
        }
    }

    @Test
    void shouldReportAControllerThatFailsToStart() {
        try (var dead = new DeadController()) {
            dead.registers.writeLong(MappedRegisters.CAPABILITIES, capabilities(true, 12).encode());
            dead.registers.write(MappedRegisters.STATUS, 0);
            var failing =
                    Thread.ofPlatform()
                            .start(() -> {
                                while (dead.registers.read(MappedRegisters.CONFIGURATION) == 0) {
                                    Thread.onSpinWait();
                                }
                                dead.registers.write(MappedRegisters.STATUS, MappedRegisters.FATAL);
                            });
            assertThatThrownBy(() -> Nvme.open(dead, QUICK))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("fatal error (CSTS 0x2)");
            assertThat(failing.isAlive()).isFalse();
        }
    }

    @Test
    void shouldRefuseControllersThatAreUnreachableOrNotSupported() {
        try (var dead = new DeadController()) {
            dead.registers.memory().fill((byte) -1);
            assertThatThrownBy(() -> Nvme.open(dead, QUICK))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("unreachable");
            dead.registers.writeLong(
                    MappedRegisters.CAPABILITIES, capabilities(false, 12).encode());
            assertThatThrownBy(() -> Nvme.open(dead, QUICK))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("not supported");
            dead.registers.writeLong(MappedRegisters.CAPABILITIES, capabilities(true, 13).encode());
            assertThatThrownBy(() -> Nvme.open(dead, QUICK))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("pages of 4 KiB");
            assertThat(dead.registers.read(MappedRegisters.CONFIGURATION))
                    .as("the driver has not touched the controller")
                    .isEqualTo(-1);
        }
    }

    @Test
    void shouldDescribeStatusCodes() {
        var known = new NvmeException("read", "x", Status.WRITE_FAULT.encode());
        assertThat(known)
                .hasMessage(
                        "read failed on x: write fault of the medium (0x280). A retry may succeed.");
        assertThat(known.status()).contains(Status.WRITE_FAULT);
        assertThat(new NvmeException("x").status()).isEmpty();
        assertThat(new NvmeException("read", "x", 0x7ff).status()).isEmpty();
    }

    @Test
    void shouldLoseOnlyWritesWithoutWriteThroughIfTheDriveLosesPower() throws Exception {
        var storage = new VolatileStorage(100, 512);
        var subsystem = new Subsystem("serial 8", "jrdma drive");
        try (var shared = new DriveHarness(subsystem, List.of(storage));
                var other = shared.other();
                var durable = shared.open(NvmeOptions.DEFAULTS.writeThrough(true));
                var cached = other.open()) {
            write(durable, 1, 77);
            write(cached, 2, 78);
            assertThat(read(cached, 2)).isEqualTo(78);

            storage.losePower();

            assertThat(read(cached, 1)).isEqualTo(77);
            assertThat(read(cached, 2)).isZero();
        }
    }

    private static void write(NvmeDrive drive, long block, long value) throws FabricException {
        try (var queue = drive.newQueue(1);
                var memory = drive.newMemory(512)) {
            memory.segment().set(JAVA_LONG, 0, value);
            assertThat(queue.write(drive.namespaces().getFirst(), block, 1, memory, 0, 0)).isTrue();
            queue.await(ofSeconds(10));
            assertThat(queue.succeeded()).isTrue();
        }
    }

    private static long read(NvmeDrive drive, long block) throws FabricException {
        try (var queue = drive.newQueue(1);
                var memory = drive.newMemory(512)) {
            assertThat(queue.read(drive.namespaces().getFirst(), block, 1, memory, 0, 0)).isTrue();
            queue.await(ofSeconds(10));
            assertThat(queue.succeeded()).isTrue();
            return memory.segment().get(JAVA_LONG, 0);
        }
    }
}
