package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.ProcessBuilder.Redirect;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.jrdma.nvme.pcie.LocalController;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the driver on the NVMe controller of this machine, whose disk contains zeroes. Each test
 * uses other pages. {@code system-tests/guest/nvme-pci-test} runs it in QEMU, twice: with physical
 * addresses, and with VFIO.
 */
@Tag("real-kernel")
@Timeout(300)
class RealPciControllerTest {

    private static final int TRANSFERS = 10_000;
    private static final int PAGES = 2000;
    private static final String NVME_CLASS = "0x010802";

    private ControllerAccess access;
    private NvmeDrive drive;

    private static String address() throws Exception {
        try (var functions = Files.list(Path.of("/sys/bus/pci/devices"))) {
            for (var function : functions.toList()) {
                if (Files.readString(function.resolve("class")).trim().equals(NVME_CLASS)) {
                    return function.getFileName().toString();
                }
            }
        }
        throw new AssertionError("This machine has no NVMe controller");
    }

    @BeforeEach
    void open() throws Exception {
        access = LocalController.open(address());
        drive = Nvme.open(access, NvmeOptions.DEFAULTS);
    }

    @AfterEach
    void close() {
        drive.close();
        access.close();
    }

    /** Transfers pages, and prints the duration. */
    private static void transfer(NvmeDrive drive, int depth, int firstPage) throws FabricException {
        var transfers = new VerifiedTransfers(drive, depth, firstPage, PAGES, firstPage + 1);
        var start = System.nanoTime();
        transfers.run(TRANSFERS);
        var micros = Duration.ofNanos(System.nanoTime() - start).toNanos() / 1000;
        System.out.printf(
                "%,d verified reads and writes of 4 KiB at depth %d: %,d ms, %,d per second%n",
                TRANSFERS, depth, micros / 1000, TRANSFERS * 1_000_000L / micros);
    }

    @Test
    void shouldIdentifyTheController() throws Exception {
        System.out.println(drive.identity());
        System.out.println(drive.namespaces());
        assertThat(drive.identity().serialNumber()).isEqualTo("jrdma");
        assertThat(drive.namespaces()).hasSize(1);
        assertThat(drive.smartLog().temperatureKelvin()).isPositive();
    }

    @Test
    void shouldReadWhatItHasWrittenAtDepth1() throws Exception {
        transfer(drive, 1, 0);
    }

    @Test
    void shouldReadWhatItHasWrittenAtDepth32() throws Exception {
        transfer(drive, 32, PAGES);
    }

    @Test
    void shouldReopenTheControllerAndReuseItsMemory() throws Exception {
        for (var round = 0; round < 3; round++) {
            drive.close();
            drive = Nvme.open(access, NvmeOptions.DEFAULTS);
            for (var size = 1L; size <= 8 << 20; size *= 8) {
                drive.newMemory(size).close();
            }
            try (var queue = drive.newQueue(1000)) {
                assertThat(queue.flush(drive.namespaces().getFirst(), 0)).isTrue();
                queue.await(Duration.ofSeconds(10));
            }
        }
    }

    @Test
    @Tag("physical")
    void shouldShareTheControllerBetweenTwoProcesses(@TempDir Path folder) throws Exception {
        var socket = folder.resolve("manager");
        try (var manager =
                SharedControllerManager.start(drive, UnixDomainSocketAddress.of(socket))) {
            var process =
                    new ProcessBuilder(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-XX:TieredStopAtLevel=1",
                                    "-XX:+UseSerialGC",
                                    "--enable-native-access=ALL-UNNAMED",
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    RealPciControllerTest.class.getName(),
                                    socket.toString())
                            .redirectErrorStream(true)
                            .redirectOutput(Redirect.INHERIT)
                            .start();
            try {
                transfer(drive, 32, 2 * PAGES);
                assertThat(process.waitFor(200, TimeUnit.SECONDS)).isTrue();
                assertThat(process.exitValue()).isZero();
            } finally {
                process.destroyForcibly();
            }
            TemporarySisciFabric.eventually(
                    "no queue", Duration.ofSeconds(10), () -> manager.queues() == 0);
        }
    }

    /** The second process: a client of the manager whose socket is the argument. */
    public static void main(String... arguments) throws Exception {
        try (var access = LocalController.open(address());
                var drive =
                        Nvme.join(
                                access,
                                UnixDomainSocketAddress.of(arguments[0]),
                                NvmeOptions.DEFAULTS)) {
            transfer(drive, 32, 3 * PAGES);
        }
    }

    @Test
    @Tag("vfio")
    void shouldRefuseASecondAccessByVfio() throws Exception {
        var address = address();
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> LocalController.open(address))
                .withMessageContaining("Another process uses the group");
    }
}
