package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.IdentifyController;
import org.jrdma.nvme.model.IdentifyNamespace;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Identify, and the creation and deletion of queues, with each rejection. */
class AdminCommandsTest extends ControllerTestBase {

    private static final int DELETE_SQ = AdminOpcode.DELETE_SUBMISSION_QUEUE;
    private static final int DELETE_CQ = AdminOpcode.DELETE_COMPLETION_QUEUE;

    private Status identify(int structure, int namespace) {
        page.segment().fill((byte) 0x5a);
        var completion = admin(AdminOpcode.IDENTIFY, namespace, structure, 0, 0);
        return Status.of(completion.status()).orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                AdminOpcode.FORMAT,
                0x10,
                0x11,
                0x0d,
                0x14,
                0x15,
                0x18,
                0x1c,
                0x7c,
                0x81,
                0x82,
                0x84,
                0xc0,
                0xff,
                0x03
            })
    void shouldRefuseUnknownAndDestructiveCommands(int opcode) {
        assertThat(admin.status(Command.admin(opcode).withNamespace(1)))
                .isEqualTo(Status.INVALID_OPCODE);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 0x40, 0x80, 0xc0})
    void shouldRefuseFusedCommandsAndScatterGatherLists(int flags) {
        var command = Command.admin(AdminOpcode.IDENTIFY).withDwords(1, 0, 0);
        assertThat(admin.status(command.withData(page.address(), 0).withFlags(flags)))
                .isEqualTo(Status.INVALID_FIELD);
        var queue = harness.createQueue(admin, 1, 8, manager);
        var read = Command.blocks(IoOpcode.READ, 1, 0, 1).withData(page.address(), 0);
        assertThat(queue.status(read.withFlags(flags))).isEqualTo(Status.INVALID_FIELD);
        assertThat(queue.status(read)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldIdentifyTheController() {
        assertThat(identify(1, 0)).isEqualTo(Status.SUCCESS);
        var controller = IdentifyController.decode(page.segment());
        assertThat(controller.serialNumber()).isEqualTo("serial 1");
        assertThat(controller.modelNumber()).isEqualTo("jrdma test");
        assertThat(controller.maxTransferShift()).isEqualTo(7);
        assertThat(controller.controllerId()).isEqualTo(1);
        assertThat(controller.namespaces()).isEqualTo(1024);
        assertThat(controller.asyncEvents()).isEqualTo(IdentifyController.NAMESPACE_NOTICES);
        assertThat(controller.nvmCapabilities()).isEqualTo(0x3c);
        assertThat(controller.adminCapabilities()).isZero();
        assertThat(controller.subsystemName()).startsWith("nqn.");
    }

    @Test
    void shouldIdentifyNamespaces() {
        assertThat(identify(0, 1)).isEqualTo(Status.SUCCESS);
        assertThat(IdentifyNamespace.decode(page.segment()))
                .isEqualTo(new IdentifyNamespace(Harness.BLOCKS, 9, 0, true, 0xfe, true));
        assertThat(identify(2, 0)).isEqualTo(Status.SUCCESS);
        assertThat(page.segment().getAtIndex(JAVA_INT, 0)).isEqualTo(1);
        assertThat(page.segment().getAtIndex(JAVA_INT, 1)).isZero();
        assertThat(identify(2, 1)).isEqualTo(Status.SUCCESS);
        Harness.assertZero(page.segment());
        assertThat(identify(3, 1)).isEqualTo(Status.SUCCESS);
        assertThat(page.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 3);
        assertThat(page.segment().get(JAVA_BYTE, 1)).isEqualTo((byte) 16);
    }

    @Test
    void shouldRejectIdentifyOfUnknownThingsAndLeaveTheMemoryUntouched() {
        assertThat(identify(0, 0)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(identify(0, 2)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(identify(0, -1)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(identify(3, 2)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(identify(2, -1)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(identify(2, -2)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(identify(4, 0)).isEqualTo(Status.INVALID_FIELD);
        assertThat(identify(0x10, 0)).isEqualTo(Status.INVALID_FIELD);
        assertThat(page.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
        assertThat(page.segment().get(JAVA_BYTE, 4095)).isEqualTo((byte) 0x5a);
    }

    @Test
    void shouldIdentifyIntoTwoPages() {
        var pages = manager.allocate(2 * TestBorrower.PAGE);
        var command =
                Command.admin(AdminOpcode.IDENTIFY)
                        .withDwords(1, 0, 0)
                        .withData(pages.address() + 2048, pages.address() + 4096);
        assertThat(admin.status(command)).isEqualTo(Status.SUCCESS);
        assertThat(IdentifyController.decode(pages.segment().asSlice(2048, 4096)).modelNumber())
                .isEqualTo("jrdma test");
    }

    private Status createCq(int id, int entries, long address) {
        return admin.status(Harness.createCompletionQueue(id, entries, address));
    }

    private Status createSq(int id, int entries, long address, int completionQueue) {
        return admin.status(Harness.createSubmissionQueue(id, entries, address, completionQueue));
    }

    @Test
    void shouldRejectInvalidCompletionQueues() {
        var memory = page.address();
        assertThat(createCq(0, 8, memory)).isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(createCq(65, 8, memory)).isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(createCq(0xffff, 8, memory)).isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(createCq(1, 1, memory)).isEqualTo(Status.INVALID_QUEUE_SIZE);
        assertThat(createCq(1, 1025, memory)).isEqualTo(Status.INVALID_QUEUE_SIZE);
        assertThat(createCq(1, 0x10000, memory)).isEqualTo(Status.INVALID_QUEUE_SIZE);
        assertThat(createCq(1, 8, memory + 64)).isEqualTo(Status.PRP_OFFSET_INVALID);
        assertThat(createCq(1, 8, 0)).isEqualTo(Status.INVALID_FIELD);
        assertThat(createCq(1, 8, 99L << 40)).isEqualTo(Status.INVALID_FIELD);
        assertThat(createCq(1, 1024, (2L << 40) - 4096)).isEqualTo(Status.INVALID_FIELD);
        var queue = Harness.createCompletionQueue(1, 8, memory);
        assertThat(admin.status(queue.withDwords(queue.dword10(), 0, 0)))
                .isEqualTo(Status.INVALID_FIELD);
        assertThat(admin.status(queue.withDwords(queue.dword10(), 65 << 16 | 3, 0)))
                .isEqualTo(Status.INVALID_INTERRUPT_VECTOR);
        assertThat(createCq(1, 8, memory)).isEqualTo(Status.SUCCESS);
        assertThat(createCq(1, 8, memory)).isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(createCq(64, 256, memory)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRejectInvalidSubmissionQueues() {
        var memory = page.address();
        assertThat(createSq(1, 8, memory, 1)).isEqualTo(Status.INVALID_COMPLETION_QUEUE);
        assertThat(createCq(1, 8, memory)).isEqualTo(Status.SUCCESS);
        assertThat(createSq(0, 8, memory, 1)).isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(createSq(65, 8, memory, 1)).isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(createSq(1, 8, memory, 0)).isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(createSq(1, 8, memory, 65)).isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(createSq(1, 8, memory, 2)).isEqualTo(Status.INVALID_COMPLETION_QUEUE);
        assertThat(createSq(1, 1, memory, 1)).isEqualTo(Status.INVALID_QUEUE_SIZE);
        assertThat(createSq(1, 1025, memory, 1)).isEqualTo(Status.INVALID_QUEUE_SIZE);
        assertThat(createSq(1, 8, memory + 4, 1)).isEqualTo(Status.PRP_OFFSET_INVALID);
        assertThat(createSq(1, 8, 99L << 40, 1)).isEqualTo(Status.INVALID_FIELD);
        var queue = Harness.createSubmissionQueue(1, 8, memory, 1);
        assertThat(admin.status(queue.withDwords(queue.dword10(), 1 << 16, 0)))
                .isEqualTo(Status.INVALID_FIELD);
        assertThat(admin.status(queue)).isEqualTo(Status.SUCCESS);
        assertThat(admin.status(queue)).isEqualTo(Status.INVALID_QUEUE_ID);
    }

    @Test
    void shouldRejectQueuesWhoseMemoryBelongsToDifferentBorrowers() {
        var guest = harness.borrower(Harness.GUEST).allocate(TestBorrower.PAGE);
        assertThat(createCq(1, 8, page.address())).isEqualTo(Status.SUCCESS);
        assertThat(createSq(1, 8, guest.address(), 1)).isEqualTo(Status.INVALID_FIELD);
        assertThat(createCq(2, 8, guest.address())).isEqualTo(Status.SUCCESS);
        assertThat(createSq(1, 8, guest.address(), 2)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldDeleteQueuesInOrderOnly() {
        assertThat(createCq(1, 8, page.address())).isEqualTo(Status.SUCCESS);
        assertThat(createSq(2, 8, page.address(), 1)).isEqualTo(Status.SUCCESS);
        assertThat(admin.status(Harness.delete(DELETE_CQ, 1)))
                .isEqualTo(Status.INVALID_QUEUE_DELETION);
        for (var id : new int[] {0, 1, 65, 0xffff}) {
            assertThat(admin.status(Harness.delete(DELETE_SQ, id)))
                    .isEqualTo(Status.INVALID_QUEUE_ID);
        }
        for (var id : new int[] {0, 2, 65, 0xffff}) {
            assertThat(admin.status(Harness.delete(DELETE_CQ, id)))
                    .isEqualTo(Status.INVALID_QUEUE_ID);
        }
        assertThat(admin.status(Harness.delete(DELETE_SQ, 2))).isEqualTo(Status.SUCCESS);
        assertThat(admin.status(Harness.delete(DELETE_CQ, 1))).isEqualTo(Status.SUCCESS);
        assertThat(admin.status(Harness.delete(DELETE_CQ, 1))).isEqualTo(Status.INVALID_QUEUE_ID);
    }

    @Test
    void shouldShareACompletionQueueBetweenSubmissionQueues() {
        var first = harness.createQueue(admin, 1, 8, manager);
        var second = new TestQueue(harness.registers(), 2, 8, manager);
        assertThat(createSq(2, 8, second.submissions().address(), 1)).isEqualTo(Status.SUCCESS);
        second.submit(Command.blocks(IoOpcode.FLUSH, 1, 0, 1).withId(77));
        var completion = first.await();
        assertThat(completion.commandId()).isEqualTo(77);
        assertThat(completion.submissionQueue()).isEqualTo(2);
    }

    @Test
    void shouldUseANewQueueWithTheIdOfADeletedQueue() {
        for (var i = 0; i < 10; i++) {
            var queue = harness.createQueue(admin, 1, 4, manager);
            for (var j = 0; j <= i; j++) {
                assertThat(queue.status(Command.blocks(IoOpcode.FLUSH, 1, 0, 1)))
                        .isEqualTo(Status.SUCCESS);
            }
            assertThat(admin.status(Harness.delete(DELETE_SQ, 1))).isEqualTo(Status.SUCCESS);
            assertThat(admin.status(Harness.delete(DELETE_CQ, 1))).isEqualTo(Status.SUCCESS);
        }
    }
}
