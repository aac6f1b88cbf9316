package org.jrdma.nvme.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Capabilities;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Start, reset, shutdown and failure of a controller. */
@Timeout(60)
class NvmeControllerTest {

    private final BlockStorage storage = Harness.storage();
    private final Harness harness = new Harness(Harness.subsystem(storage));
    private final TestBorrower manager = harness.borrower(Harness.MANAGER);

    @AfterEach
    void close() {
        harness.close();
        storage.close();
    }

    private int status() {
        return harness.registers().read(MappedRegisters.STATUS);
    }

    @Test
    void shouldPublishItsCapabilities() {
        assertThat(Capabilities.decode(harness.registers().readLong(MappedRegisters.CAPABILITIES)))
                .isEqualTo(new Capabilities(1024, true, 2000, 4, true, 12, 12));
        assertThat(harness.registers().read(MappedRegisters.VERSION)).isEqualTo(0x10400);
        assertThat(status()).isZero();
    }

    @Test
    void shouldExecuteAdminCommandsAfterTheStart() {
        var admin = harness.enable(manager);
        var completion = admin.execute(Command.admin(0xff).withId(0x1234));
        assertThat(completion.commandId()).isEqualTo(0x1234);
        assertThat(completion.submissionHead()).isEqualTo(1);
        assertThat(completion.submissionQueue()).isZero();
        assertThat(completion.status()).isEqualTo(Status.INVALID_OPCODE.encode());
    }

    @Test
    void shouldWrapTheAdminQueues() {
        var admin = harness.enable(manager);
        for (var i = 0; i < 5 * Harness.ADMIN_ENTRIES; i++) {
            assertThat(admin.execute(Command.admin(0xff).withId(i)).commandId()).isEqualTo(i);
        }
    }

    @Test
    void shouldFailToStartWithInvalidAdminQueues() {
        var page = manager.allocate(TestBorrower.PAGE).address();
        var other = manager.allocate(TestBorrower.PAGE).address();
        var guest = harness.borrower(Harness.GUEST).allocate(TestBorrower.PAGE).address();
        var invalid =
                new long[][] {
                    {page + 8, other},
                    {page, other + 8},
                    {0, other},
                    {page, 0},
                    {page, guest},
                    {page, 99L << 40},
                    {-4096, -4096}
                };
        for (var addresses : invalid) {
            harness.writeAdminRegisters(16, addresses[0], addresses[1]);
            assertStartFails(Configuration.ENABLED);
        }
        harness.writeAdminRegisters(1, page, other);
        assertStartFails(Configuration.ENABLED);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x0046_0011, 0x0046_0081, 0x0046_0801, 0x0045_0001, 0x0036_0001, 1})
    void shouldFailToStartWithAnUnsupportedConfiguration(int configuration) {
        var page = manager.allocate(TestBorrower.PAGE).address();
        harness.writeAdminRegisters(16, page, manager.allocate(TestBorrower.PAGE).address());
        assertStartFails(Configuration.decode(configuration));
        harness.configure(Configuration.ENABLED);
        harness.awaitStatus(MappedRegisters.READY, MappedRegisters.READY);
    }

    private void assertStartFails(Configuration configuration) {
        harness.configure(configuration);
        harness.awaitStatus(MappedRegisters.FATAL, MappedRegisters.FATAL);
        assertThat(status() & MappedRegisters.READY).isZero();
        harness.configure(configuration.enabled(false));
        harness.awaitStatus(MappedRegisters.FATAL, 0);
    }

    @Test
    void shouldContinueTheQueuesOfOthersWhileTheAdminQueueIsUnreachable() {
        var admin = harness.enable(manager);
        var guest = harness.borrower(Harness.GUEST);
        var queue = harness.createQueue(admin, 1, 8, guest);
        admin.submit(Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST).withId(7));
        assertThat(admin.status(Command.admin(0xff))).isEqualTo(Status.INVALID_OPCODE);
        manager.setReachable(false);
        admin.submit(Command.admin(0xff).withId(8));
        var flush = Command.blocks(IoOpcode.FLUSH, 1, 0, 1);
        Harness.await(() -> harness.host().refusedAccesses() > 0);
        for (var i = 0; i < 20; i++) {
            assertThat(queue.status(flush)).isEqualTo(Status.SUCCESS);
        }
        assertThat(status()).isEqualTo(MappedRegisters.READY);
        assertThat(admin.hasCompletion()).isFalse();

        manager.setReachable(true);
        var event = admin.await();
        assertThat(event.commandId()).isEqualTo(7);
        assertThat(AsyncEvent.decode(event.result())).isEqualTo(AsyncEvent.PERSISTENT_ERROR);
        assertThat(admin.await().commandId()).isEqualTo(8);
        assertThat(admin.status(Command.admin(0xff))).isEqualTo(Status.INVALID_OPCODE);
    }

    @Test
    void shouldContinueAQueueWhoseMemoryIsReachableAgain() {
        var admin = harness.enable(manager);
        var guest = harness.borrower(Harness.GUEST);
        var queue = harness.createQueue(admin, 1, 8, guest);
        var flush = Command.blocks(IoOpcode.FLUSH, 1, 0, 1);
        for (var round = 0; round < 20; round++) { // the queue wraps
            guest.setReachable(false);
            var refused = harness.host().refusedAccesses();
            queue.submit(flush.withId(round));
            Harness.await(() -> harness.host().refusedAccesses() > refused);
            guest.setReachable(true);
            assertThat(queue.await().commandId()).isEqualTo(round);
        }
    }

    @Test
    void shouldDeleteAllQueuesByAReset() {
        var admin = harness.enable(manager);
        var queue = harness.createQueue(admin, 1, 8, manager);
        harness.registers().writeLong(MappedRegisters.CAPABILITIES, 0);
        harness.disable();
        assertThat(harness.registers().readLong(MappedRegisters.CAPABILITIES)).isNotZero();
        assertThat(harness.registers().read(MappedRegisters.tailDoorbell(0, 4))).isZero();

        admin = harness.enable(manager);
        queue.submit(Command.admin(0));
        assertThat(admin.status(Harness.delete(AdminOpcode.DELETE_SUBMISSION_QUEUE, queue.id())))
                .isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(queue.hasCompletion()).isFalse();
    }

    @Test
    void shouldShutDownAndProcessNothingUntilTheReset() {
        var admin = harness.enable(manager);
        harness.configure(Configuration.ENABLED.shutdown(Configuration.NORMAL_SHUTDOWN));
        harness.awaitStatus(MappedRegisters.SHUTDOWN_MASK, MappedRegisters.SHUTDOWN_COMPLETE);
        admin.submit(Command.admin(0xff));
        harness.configure(Configuration.ENABLED);
        harness.disable();
        assertThat(admin.hasCompletion()).isFalse();
        assertThat(status()).isZero();
        assertThat(harness.enable(manager).status(Command.admin(0xff)))
                .isEqualTo(Status.INVALID_OPCODE);
    }

    @Test
    void shouldShutDownWhileDisabled() {
        harness.configure(Configuration.ENABLED.enabled(false).shutdown(1));
        harness.awaitStatus(MappedRegisters.SHUTDOWN_MASK, MappedRegisters.SHUTDOWN_COMPLETE);
        var _ = harness.enable(manager);
    }

    @Test
    void shouldResetWhenTheLastBorrowerIsDetached() {
        var _ = harness.enable(manager);
        manager.detach();
        assertThat(status()).isZero();
        assertThat(harness.registers().read(MappedRegisters.CONFIGURATION)).isZero();
    }

    @Test
    void shouldRejectSubsystemsWithInvalidTexts() {
        assertThatThrownBy(() -> new Subsystem("", "model"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("serial number");
        assertThatThrownBy(() -> new Subsystem("1", "x".repeat(41)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("model number");
    }
}
