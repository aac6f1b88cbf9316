package org.jrdma.nvme;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jrdma.nvme.pcie.BorrowedController;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.SmartIo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests two processes that share a controller, whose manager is in the process of the test. */
@Timeout(120)
class SharedControllerProcessesTest {

    private static final int PAGES = LendingNode.PAGES / 2;
    private static final byte CANARY = 0x5a;

    @TempDir Path folder;

    private TemporarySisciFabric fabric;
    private SmartIoProcess lender;
    private Node node;
    private BorrowedController access;
    private NvmeDrive drive;
    private SharedControllerManager manager;
    private SmartIoProcess first;
    private SmartIoProcess second;

    @BeforeEach
    void start() throws Exception {
        fabric = TemporarySisciFabric.create();
        lender = SmartIoProcess.startLender(fabric);
        var id = Long.parseLong(lender.nextLine());
        node = Sisci.from(fabric.library()).open();
        access = BorrowedController.of(node, SmartIo.of(node).borrow(id, BorrowMode.SHARED));
        drive = Nvme.open(access, NvmeOptions.DEFAULTS);
        var socket = folder.resolve("manager");
        manager = SharedControllerManager.start(drive, UnixDomainSocketAddress.of(socket));
        first = SmartIoProcess.start(fabric, id, socket, 0, PAGES);
        second = SmartIoProcess.start(fabric, id, socket, PAGES, PAGES);
        assertThat(manager.queues()).isEqualTo(2);
    }

    @AfterEach
    void close() throws Exception {
        drive.close();
        access.close();
        first.close();
        second.close();
        lender.close();
        node.close();
        fabric.delete();
    }

    private void transfer(int operations) throws Exception {
        first.begin(operations);
        second.begin(operations);
        assertThat(first.result()).isEqualTo("done");
        assertThat(second.result()).isEqualTo("done");
        first.end();
        second.end();
        TemporarySisciFabric.eventually("no queue", ofSeconds(10), () -> manager.queues() == 0);
    }

    @Test
    void shouldVerifyTransfersOfTwoProcesses() throws Exception {
        transfer(3000);
    }

    @Test
    @Tag("slow")
    void shouldVerifyAHundredThousandTransfersOfTwoProcesses() throws Exception {
        transfer(50_000);
    }

    @Test
    @Tag("slow")
    void shouldContinueWhenTheOtherProcessIsKilledDuringTransfers() throws Exception {
        try (var arena = Arena.ofShared()) {
            continueWhenTheOtherProcessIsKilled(first.mapSegments(arena));
        }
    }

    private void continueWhenTheOtherProcessIsKilled(List<MemorySegment> memory) throws Exception {
        assertThat(memory).isNotEmpty();
        first.begin(Integer.MAX_VALUE);
        second.begin(5000);
        assertThat(first.nextLine()).isEqualTo("progress");
        assertThat(second.nextLine()).isEqualTo("progress");

        first.kill();

        TemporarySisciFabric.eventually("one queue", ofSeconds(1), () -> manager.queues() == 1);
        TemporarySisciFabric.eventually("one client", ofSeconds(10), () -> manager.clients() == 1);
        memory.forEach(each -> each.fill(CANARY));
        assertThat(second.result()).isEqualTo("done");
        second.begin(2000);
        assertThat(second.result()).isEqualTo("done");
        try (var queue = drive.newQueue(8)) {
            assertThat(queue).as("the id is free again").asString().startsWith("I/O queue 1 of");
        }
        second.end();
        for (var each : memory) {
            var canary = Arena.ofAuto().allocate(each.byteSize()).fill(CANARY);
            assertThat(each.mismatch(canary)).as("the memory of the killed process").isEqualTo(-1);
        }
    }

    @Test
    @Tag("slow")
    void shouldReportThatTheLenderWasKilledToBothProcessesWithinASecond() throws Exception {
        first.begin(Integer.MAX_VALUE);
        second.begin(Integer.MAX_VALUE);
        assertThat(first.nextLine()).isEqualTo("progress");
        assertThat(second.nextLine()).isEqualTo("progress");

        var start = System.nanoTime();
        lender.kill();

        assertThat(first.result()).startsWith("NvmeException:").contains("is unreachable");
        assertThat(second.result()).startsWith("NvmeException:").contains("is unreachable");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(ofSeconds(1));
    }
}
