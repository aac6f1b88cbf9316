package org.jrdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jrdma.cli.drive.BorrowedDrive;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.NvmeQueue;
import org.jrdma.processes.Program;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.SmartIo;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("slow")
class LendSoftwareDeviceCommandTest {

    private static final int KILLED_BY_SIGTERM = 143;
    private static final int BLOCK_BYTES = 4096;

    private Path folder;

    @BeforeEach
    void createFabric() throws IOException {
        folder = Files.createTempDirectory(Path.of("/dev/shm"), "lend");
    }

    /** Fails if a process has left files. */
    @AfterEach
    void deleteEmptyFabric() throws IOException {
        Files.delete(folder);
    }

    private Program start(String... arguments) throws IOException {
        return start(folder, arguments);
    }

    private static Program start(Path fabric, String... arguments) throws IOException {
        return JrdmaProcess.start(List.of("-Djrdma.sisci.fabric=" + fabric), List.of(arguments));
    }

    private static void stop(Program lender) throws Exception {
        ProcessHandle.of(Long.parseLong(lender.pid())).orElseThrow().destroy();
        assertThat(lender.await()).as(lender.output()).isEqualTo(KILLED_BY_SIGTERM);
    }

    @Test
    void shouldLendADeviceAndReportItsBorrowers() throws Exception {
        var fabric = SoftSisciOptions.in(folder);
        try (var lender = start("lend", "edu")) {
            lender.awaitOutput("device 0x401: edu, lent by node 4 until Ctrl+C\n");
            try (var node = Sisci.from(new SoftSisci(fabric)).open()) {
                try (var device = SmartIo.of(node).borrow(0x401, BorrowMode.SHARED)) {
                    lender.awaitOutput("device 0x401: borrowed by node 8, borrows: 1\n");
                    assertThat(device.id()).isEqualTo(0x401);
                }
                lender.awaitOutput("device 0x401: returned by node 8, borrows: 0\n");
            }
            stop(lender);
        }
    }

    @Test
    void shouldListALentDevice() throws Exception {
        try (var lender = start("lend", "--json", "edu")) {
            lender.awaitOutput("\n");
            assertThat(lender.output())
                    .isEqualTo(
                            "{\"event\":\"lent\",\"device\":\"0x401\",\"node\":4,\"borrows\":0}\n");

            try (var devices = start("devices")) {
                assertThat(devices.await()).isZero();
                assertThat(devices.output())
                        .containsPattern(
                                "\nSISCI, software: .+\n  adapter 0: node 8, link up\n  lent device 0x401: edu, lent by node 4, not borrowed\nSocket");
            }
            try (var node = Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))).open();
                    var _ = SmartIo.of(node).borrow(0x401, BorrowMode.SHARED);
                    var _ = SmartIo.of(node).borrow(0x401, BorrowMode.SHARED);
                    var devices = start("devices")) {
                assertThat(devices.await()).isZero();
                assertThat(devices.output())
                        .contains(
                                "  lent device 0x401: edu, lent by node 4, shared, borrows: 2, by nodes 8, 8\n");
            }
            stop(lender);
        }
    }

    private String run(String... arguments) throws Exception {
        try (var command = start(arguments)) {
            assertThat(command.await()).as(command.output()).isZero();
            return command.output();
        }
    }

    @Test
    void shouldListDevicesAndChangeTheirAvailability() throws Exception {
        assertThat(run("lend", "list")).isEqualTo("No node of the fabric lends a device.\n");
        try (var lender = start("lend", "--unavailable", "edu")) {
            lender.awaitOutput(
                    "device 0x401: edu, lent by node 4 until Ctrl+C, not available to borrowers\n");
            assertThat(run("lend", "list"))
                    .isEqualTo(
                            "device 0x401: edu, lent by node 4, not borrowed, not available to further borrowers\n");

            assertThat(run("lend", "available", "0x401"))
                    .isEqualTo("device 0x401: available to further borrowers\n");

            try (var node = Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))).open();
                    var _ = SmartIo.of(node).borrow(0x401, BorrowMode.EXCLUSIVE)) {
                assertThat(run("lend", "unavailable", "--json", "0x401"))
                        .isEqualTo("{\"device\":\"0x401\",\"available\":false}\n");
                assertThat(run("lend", "list", "--json"))
                        .isEqualTo(
                                "[{\"id\":\"0x401\",\"lending\":{\"name\":\"edu\",\"lender\":4,\"available\":false,\"mode\":\"exclusive\",\"borrows\":1,\"borrowers\":[8]}}]\n");
            }
            try (var unknown = start("lend", "available", "0x402")) {
                assertThat(unknown.await()).isOne();
                assertThat(unknown.output())
                        .isEqualTo("No node of the fabric lends a device with the id 0x402.\n");
            }
            stop(lender);
        }
    }

    @Test
    void shouldLendSeveralControllersOfOneDrive() throws Exception {
        try (var lender = start("lend", "--count", "2", "nvme")) {
            lender.awaitOutput("device 0x402: nvme, lent by node 4 until Ctrl+C\n");
            assertThat(lender.output())
                    .startsWith("device 0x401: nvme, lent by node 4 until Ctrl+C\n");
            var software = Sisci.from(new SoftSisci(SoftSisciOptions.in(folder)));
            try (var first = BorrowedDrive.open(software, 0x401, NvmeOptions.DEFAULTS);
                    var second = BorrowedDrive.open(software, 0x402, NvmeOptions.DEFAULTS)) {
                lender.awaitOutput("device 0x402: borrowed by node 8, borrows: 1\n");
                write(first.drive(), 42);
                assertThat(read(second.drive())).isEqualTo(42);
            }
            lender.awaitOutput("device 0x401: returned by node 8, borrows: 0\n");
            stop(lender);
        }
    }

    private static void write(NvmeDrive drive, long value) throws FabricException {
        try (var queue = drive.newQueue(1);
                var memory = drive.newMemory(BLOCK_BYTES)) {
            memory.segment().set(ValueLayout.JAVA_LONG, 0, value);
            assertThat(queue.write(drive.namespaces().getFirst(), 7, 1, memory, 0, 0)).isTrue();
            complete(queue);
        }
    }

    private static long read(NvmeDrive drive) throws FabricException {
        try (var queue = drive.newQueue(1);
                var memory = drive.newMemory(BLOCK_BYTES)) {
            assertThat(queue.read(drive.namespaces().getFirst(), 7, 1, memory, 0, 0)).isTrue();
            complete(queue);
            return memory.segment().get(ValueLayout.JAVA_LONG, 0);
        }
    }

    private static void complete(NvmeQueue queue) throws FabricException {
        queue.await(Duration.ofSeconds(10));
        assertThat(queue.succeeded()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "lend, Missing required parameter: 'DEVICE'. See jrdma lend --help.",
        "lend available, Missing required parameter: 'ID'. See jrdma lend available --help.",
        "lend unavailable 401, 'Invalid value for positional parameter at index 0 (ID): \"401\" is not a fabric device id such as 0x401. See jrdma lend unavailable --help.'",
        "lend gpu, 'There is no device named gpu. Available devices: edu, nvme. See jrdma lend --help.'",
        "lend --count 65 edu, 'The number of devices must be from 1 to 64, but is 65. See jrdma lend --help.'"
    })
    void shouldRejectAnInvalidCommandLineInOneLine(String words, String message) {
        assertThat(InvalidCommandLineAssertions.errors(words)).isEqualTo(message + "\n");
    }

    @Test
    void shouldReportAFabricThatCannotBeJoinedInOneLine() throws Exception {
        var file = Files.createFile(folder.resolve("file"));
        try (var lender = start(file, "lend", "edu")) {
            assertThat(lender.await()).isOne();
            assertThat(lender.output()).contains(file.toString()).hasLineCount(1);
        } finally {
            Files.delete(file);
        }
    }
}
