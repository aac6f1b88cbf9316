package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.Test;

/** Two borrowers that share one controller. */
class IsolationTest extends ControllerTestBase {

    private final TestBorrower guest = harness.borrower(Harness.GUEST);

    private static Command read(long address) {
        return Command.blocks(IoOpcode.READ, 1, 0, 8).withData(address, 0);
    }

    @Test
    void shouldLetTheCommandsOfAQueueAccessMemoryOfItsOwnerOnly() {
        var queue = harness.createQueue(admin, 1, 8, guest);
        var own = harness.createQueue(admin, 2, 8, manager);
        var guestPage = guest.allocate(4096);
        guestPage.segment().fill((byte) 1);
        page.segment().fill((byte) 1);
        assertThat(queue.status(read(page.address()))).isEqualTo(Status.DATA_TRANSFER_ERROR);
        assertThat(own.status(read(guestPage.address()))).isEqualTo(Status.DATA_TRANSFER_ERROR);
        assertThat(
                        admin.status(
                                Command.admin(AdminOpcode.IDENTIFY)
                                        .withDwords(1, 0, 0)
                                        .withData(guestPage.address(), 0)))
                .isEqualTo(Status.DATA_TRANSFER_ERROR);
        assertThat(guestPage.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 1);
        assertThat(page.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 1);
        assertThat(queue.status(read(guestPage.address()))).isEqualTo(Status.SUCCESS);
        assertThat(own.status(read(page.address()))).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldDeleteTheQueuesOfABorrowerThatEnded() {
        var own = harness.createQueue(admin, 1, 8, manager);
        var queue = harness.createQueue(admin, 2, 8, guest);
        queue.submit(read(guest.allocate(4096).address()));
        guest.detach();
        guest.memory().fill((byte) 0x5a);
        queue.ringTail(3);
        for (var i = 0; i < 100; i++) {
            assertThat(own.status(read(page.address()))).isEqualTo(Status.SUCCESS);
        }
        var canary = harness.arena().allocate(guest.memory().byteSize()).fill((byte) 0x5a);
        assertThat(guest.memory().mismatch(canary)).isEqualTo(-1);
        assertThat(admin.status(Harness.delete(AdminOpcode.DELETE_SUBMISSION_QUEUE, 2)))
                .isEqualTo(Status.INVALID_QUEUE_ID);
        var next = harness.borrower(Harness.GUEST);
        assertThat(
                        harness.createQueue(admin, 2, 8, next)
                                .status(read(next.allocate(4096).address())))
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldClearTheInterruptVectorsOfABorrowerThatEnded() {
        var first = 0x2000;
        var second = first + 16;
        harness.registers().writeLong(first, guest.allocate(4096).address());
        harness.registers().writeLong(second, page.address());
        guest.detach();
        assertThat(harness.registers().readLong(first)).isZero();
        assertThat(harness.registers().readLong(second)).isEqualTo(page.address());
    }

    @Test
    void shouldContinueTheQueuesOfOthersWithoutAManager() {
        var queue = harness.createQueue(admin, 1, 8, guest);
        var data = guest.allocate(4096);
        admin.submit(Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST));
        manager.detach();
        for (var i = 0; i < 100; i++) {
            assertThat(queue.status(read(data.address()))).isEqualTo(Status.SUCCESS);
        }
        queue.ringTail(100); // an event that no manager requests
        assertThat(queue.status(read(data.address()))).isEqualTo(Status.SUCCESS);

        harness.awaitStatus(MappedRegisters.READY, MappedRegisters.READY);
        harness.disable();
        var newManager = harness.borrower(3);
        admin = harness.enable(newManager);
        var again = harness.createQueue(admin, 1, 8, guest);
        assertThat(again.status(read(data.address()))).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldServeAllQueuesWhileOneIsBusy() {
        var busy = harness.createQueue(admin, 1, 1024, guest);
        var own = harness.createQueue(admin, 64, 8, manager);
        var data = guest.allocate(1 << 20);
        for (var round = 0; round < 5; round++) {
            for (var i = 0; i < 200; i++) {
                busy.add(Command.blocks(IoOpcode.READ, 1, 0, 8).withData(data.address(), 0));
            }
            busy.ring();
            assertThat(own.status(read(page.address()))).isEqualTo(Status.SUCCESS);
            for (var i = 0; i < 200; i++) {
                assertThat(busy.take().status()).isZero();
            }
            busy.ringHead((round + 1) * 200 % 1024);
        }
    }
}
