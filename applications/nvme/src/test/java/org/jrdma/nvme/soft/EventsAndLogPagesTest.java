package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.ErrorLogEntry;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.SmartLog;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.Test;

/** Asynchronous events, abort, log pages, doorbells and interrupts. */
class EventsAndLogPagesTest extends ControllerTestBase {

    private static final Command EVENT_REQUEST = Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST);
    private static final int RETAIN = 1 << 15;

    private Status readLog(int page, int dwords, int offset) {
        var completion = admin(AdminOpcode.GET_LOG_PAGE, -1, page | (dwords - 1) << 16, 0, offset);
        return Status.of(completion.status()).orElseThrow();
    }

    private static Command abort(int queue, int commandId) {
        return Command.admin(AdminOpcode.ABORT).withDwords(queue | commandId << 16, 0, 0);
    }

    private AsyncEvent awaitEvent(int commandId) {
        var completion = admin.await();
        assertThat(completion.commandId()).isEqualTo(commandId);
        assertThat(completion.status()).isZero();
        return AsyncEvent.decode(completion.result());
    }

    @Test
    void shouldLimitTheNumberOfEventRequests() {
        for (var id = 0; id < 4; id++) {
            admin.submit(EVENT_REQUEST.withId(id));
        }
        assertThat(admin.status(EVENT_REQUEST.withId(4))).isEqualTo(Status.ASYNC_EVENT_LIMIT);
        assertThat(admin.status(EVENT_REQUEST.withId(3))).isEqualTo(Status.COMMAND_ID_CONFLICT);
        assertThat(admin.status(Command.admin(0xff).withId(2)))
                .isEqualTo(Status.COMMAND_ID_CONFLICT);
    }

    @Test
    void shouldAbortAnEventRequest() {
        admin.submit(EVENT_REQUEST.withId(7));
        admin.submit(abort(0, 7).withId(8));
        var aborted = admin.await();
        assertThat(aborted.commandId()).isEqualTo(7);
        assertThat(Status.of(aborted.status())).contains(Status.ABORT_REQUESTED);
        assertThat(admin.await()).extracting(Completion::commandId).isEqualTo(8);
        for (var command : List.of(abort(0, 7), abort(1, 7), abort(0xffff, 0))) {
            var completion = admin.execute(command);
            assertThat(completion.status()).isZero();
            assertThat(completion.result()).isEqualTo(1);
        }
    }

    @Test
    void shouldIgnoreInvalidDoorbellsAndReportAnEvent() {
        var queue = harness.createQueue(admin, 1, 8, manager);
        admin.submit(EVENT_REQUEST.withId(1));
        queue.ringTail(8);
        assertThat(awaitEvent(1)).isEqualTo(AsyncEvent.INVALID_DOORBELL_VALUE);
        assertThat(readLog(LogPage.ERRORS, 16, 0)).isEqualTo(Status.SUCCESS);
        for (var value : new int[] {-1, Integer.MIN_VALUE, 0x1_0001}) {
            admin.submit(EVENT_REQUEST.withId(1));
            queue.ringTail(value);
            assertThat(awaitEvent(1)).isEqualTo(AsyncEvent.INVALID_DOORBELL_VALUE);
            assertThat(readLog(LogPage.ERRORS, 16, 0)).isEqualTo(Status.SUCCESS);
        }
        admin.submit(EVENT_REQUEST.withId(1));
        queue.ringHead(3); // nothing was completed
        assertThat(awaitEvent(1)).isEqualTo(AsyncEvent.INVALID_DOORBELL_VALUE);
        assertThat(queue.status(Command.blocks(IoOpcode.FLUSH, 1, 0, 1))).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldReportDoorbellsOfQueuesThatDoNotExist() {
        admin.submit(EVENT_REQUEST.withId(1));
        new TestQueue(harness.registers(), 9, 8, manager).ringTail(1);
        assertThat(awaitEvent(1)).isEqualTo(AsyncEvent.UNKNOWN_DOORBELL);
    }

    @Test
    void shouldReportFurtherEventsOfATypeOnlyAfterTheLogPageWasRead() {
        var queue = harness.createQueue(admin, 1, 8, manager);
        admin.submit(EVENT_REQUEST.withId(1));
        queue.ringTail(100);
        assertThat(awaitEvent(1)).isEqualTo(AsyncEvent.INVALID_DOORBELL_VALUE);
        admin.submit(EVENT_REQUEST.withId(2));
        queue.ringTail(101);
        assertThat(readLog(LogPage.ERRORS | RETAIN, 16, 0)).isEqualTo(Status.SUCCESS);
        assertThat(readLog(LogPage.SMART, 16, 0)).isEqualTo(Status.SUCCESS);
        assertThat(admin.hasCompletion()).isFalse();
        admin.submit(
                Command.admin(AdminOpcode.GET_LOG_PAGE)
                        .withId(3)
                        .withData(page.address(), 0)
                        .withDwords(LogPage.ERRORS, 0, 0));
        assertThat(admin.await().commandId()).isEqualTo(3);
        assertThat(awaitEvent(2)).isEqualTo(AsyncEvent.INVALID_DOORBELL_VALUE);
    }

    @Test
    void shouldReportATemperatureBeyondTheThreshold() {
        admin.submit(EVENT_REQUEST.withId(1));
        var _ = admin(AdminOpcode.SET_FEATURES, 0, FeatureId.TEMPERATURE_THRESHOLD, 290, 0);
        assertThat(readLog(LogPage.SMART, 128, 0)).isEqualTo(Status.SUCCESS);
        assertThat(SmartLog.decode(page.segment()).criticalWarning()).isEqualTo(2);
        var _ = admin(AdminOpcode.SET_FEATURES, 0, FeatureId.ASYNC_EVENT_CONFIGURATION, 2, 0);
        assertThat(awaitEvent(1)).isEqualTo(AsyncEvent.TEMPERATURE);
    }

    @Test
    void shouldStopAQueueWhoseMemoryIsNotMapped() {
        var guest = harness.borrower(Harness.GUEST);
        var queue = harness.createQueue(admin, 1, 8, guest);
        var other = harness.createQueue(admin, 2, 8, manager);
        admin.submit(EVENT_REQUEST.withId(1));
        guest.unmap();
        queue.submit(Command.blocks(IoOpcode.FLUSH, 1, 0, 1));
        assertThat(awaitEvent(1)).isEqualTo(AsyncEvent.PERSISTENT_ERROR);
        assertThat(other.status(Command.blocks(IoOpcode.FLUSH, 1, 0, 1))).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldReadTheErrorLog() {
        assertThat(admin.status(Command.admin(0xff).withId(5).withNamespace(3)))
                .isEqualTo(Status.INVALID_OPCODE);
        var queue = harness.createQueue(admin, 1, 8, manager);
        var read = Command.blocks(IoOpcode.READ, 1, 1L << 40, 1).withId(6);
        assertThat(queue.status(read)).isEqualTo(Status.LBA_OUT_OF_RANGE);
        assertThat(readLog(LogPage.ERRORS, 48, 0)).isEqualTo(Status.SUCCESS);
        assertThat(ErrorLogEntry.decode(page.segment(), 0))
                .isEqualTo(
                        new ErrorLogEntry(2, 1, 6, Status.LBA_OUT_OF_RANGE.encode(), 1L << 40, 1));
        assertThat(ErrorLogEntry.decode(page.segment(), 64))
                .isEqualTo(new ErrorLogEntry(1, 0, 5, Status.INVALID_OPCODE.encode(), 0, 3));
        assertThat(ErrorLogEntry.decode(page.segment(), 128).count()).isZero();
        for (var i = 0; i < 20; i++) {
            var _ = admin.execute(Command.admin(0xff));
        }
        assertThat(readLog(LogPage.ERRORS, 1, 15 * 64)).isEqualTo(Status.SUCCESS);
        assertThat(page.segment().get(JAVA_LONG, 0) & 0xffff_ffffL).isEqualTo(7);
    }

    @Test
    void shouldReadPartsOfLogPagesAndZeroesAfterTheirEnd() {
        page.segment().fill((byte) 0x5a);
        assertThat(readLog(LogPage.FIRMWARE_SLOTS, 256, 8)).isEqualTo(Status.SUCCESS);
        assertThat(page.segment().getString(0)).isEqualTo("1.0     ");
        Harness.assertZero(page.segment().asSlice(8, 1016));
        assertThat(page.segment().get(JAVA_BYTE, 1024)).isEqualTo((byte) 0x5a);
        assertThat(readLog(LogPage.SMART, 1, 512)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRejectInvalidLogPages() {
        for (var id : new int[] {0, 5, 6, 0x70, 0x81, 0xff}) {
            assertThat(readLog(id, 4, 0)).isEqualTo(Status.INVALID_LOG_PAGE);
        }
        assertThat(readLog(LogPage.SMART, 4, 2)).isEqualTo(Status.INVALID_FIELD);
        assertThat(readLog(LogPage.SMART, 4, 516)).isEqualTo(Status.INVALID_FIELD);
        var tooLong = admin(AdminOpcode.GET_LOG_PAGE, -1, LogPage.SMART, 2, 0);
        assertThat(Status.of(tooLong.status())).contains(Status.INVALID_FIELD);
        var farOffset =
                new Command(
                        AdminOpcode.GET_LOG_PAGE,
                        0,
                        0,
                        -1,
                        page.address(),
                        0,
                        LogPage.SMART,
                        0,
                        0,
                        Integer.MIN_VALUE,
                        0,
                        0);
        assertThat(admin.status(farOffset)).isEqualTo(Status.INVALID_FIELD);
    }

    @Test
    void shouldCountCommandsInTheSmartLog() {
        var queue = harness.createQueue(admin, 1, 8, manager);
        var data = manager.allocate(8192);
        for (var opcode : new int[] {IoOpcode.READ, IoOpcode.WRITE, IoOpcode.WRITE}) {
            var command = Command.blocks(opcode, 1, 0, 16);
            assertThat(queue.status(command.withData(data.address(), data.address() + 4096)))
                    .isEqualTo(Status.SUCCESS);
        }
        assertThat(readLog(LogPage.SMART, 128, 0)).isEqualTo(Status.SUCCESS);
        var log = SmartLog.decode(page.segment());
        assertThat(log.readCommands()).isEqualTo(1);
        assertThat(log.writeCommands()).isEqualTo(2);
        assertThat(log.dataUnitsRead()).isEqualTo(1);
        assertThat(log.mediaErrors()).isZero();
    }

    @Test
    void shouldSignalInterruptsInMemoryOfTheOwnerOfTheQueueOnly() throws Exception {
        var signals = new LinkedBlockingQueue<Long>();
        var memory = harness.arena().allocate(4096, 4096);
        var address = harness.host().map(Harness.MANAGER, memory, signals::add);
        var guestMemory = harness.borrower(Harness.GUEST).allocate(4096);
        var queue = new TestQueue(harness.registers(), 1, 8, manager);
        var create = Harness.createCompletionQueue(1, 8, queue.completions().address());
        assertThat(admin.status(create.withDwords(create.dword10(), 5 << 16 | 3, 0)))
                .isEqualTo(Status.SUCCESS);
        assertThat(
                        admin.status(
                                Harness.createSubmissionQueue(
                                        1, 8, queue.submissions().address(), 1)))
                .isEqualTo(Status.SUCCESS);
        var vector = 0x2000 + 5 * 16;
        harness.registers().writeLong(vector, guestMemory.address());
        harness.registers().write(vector + 8, 99);
        var flush = Command.blocks(IoOpcode.FLUSH, 1, 0, 1);
        assertThat(queue.status(flush)).isEqualTo(Status.SUCCESS);
        assertThat(admin.status(Command.admin(0xff))).isEqualTo(Status.INVALID_OPCODE);
        harness.registers().writeLong(vector, address + 64);
        harness.registers().write(vector + 12, 1);
        assertThat(queue.status(flush)).isEqualTo(Status.SUCCESS);
        assertThat(admin.status(Command.admin(0xff))).isEqualTo(Status.INVALID_OPCODE);
        assertThat(signals).isEmpty();
        harness.registers().write(vector + 12, 0);
        assertThat(signals.poll(10, TimeUnit.SECONDS)).isEqualTo(64);
        assertThat(memory.get(JAVA_INT, 64)).isEqualTo(99);
        Harness.assertZero(guestMemory.segment());
    }
}
