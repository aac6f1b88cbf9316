package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Made-up commands, addresses and doorbell values of one borrower, which also changes its queue
 * entries and lists of pages while the controller reads them, while another borrower writes and
 * reads blocks. No command may cause an exception in the controller, and the other borrower must
 * not notice anything.
 */
@Timeout(600)
class ControllerFuzzTest {

    private static final int STRIDE = 4;
    private static final int ROUND = 500;
    private static final int RESTARTS = 10;
    private static final int BATCH = 8;
    private static final long STALL_NANOS = 2_000_000;

    private final Random random = new Random(21);

    @Test
    void shouldServeABorrowerWhileAnotherOneMakesUpCommandsAndDoorbells() throws Exception {
        fuzzQueues(20_000);
    }

    @Test
    @Tag("slow")
    void shouldServeABorrowerThroughAMillionMadeUpCommands() throws Exception {
        fuzzQueues(1_000_000);
    }

    @Test
    void shouldServeAHostWhileAnotherOneMakesUpRegistersAndAdminCommands() throws Exception {
        fuzzController(10_000);
    }

    @Test
    @Tag("slow")
    void shouldServeAHostThroughAMillionMadeUpAdminCommands() throws Exception {
        fuzzController(1_000_000);
    }

    /** Both borrowers share a controller. The manager creates the queue of the other borrower. */
    private void fuzzQueues(int entries) throws Exception {
        try (var storage = Harness.storage();
                var other = BlockStorage.inMemory(1000, 4096);
                var harness = new Harness(Harness.subsystem(storage, other))) {
            var manager = harness.borrower(Harness.MANAGER);
            var admin = harness.enable(manager);
            var queue = harness.createQueue(admin, 1, 8, manager);
            try (var io = new VerifiedIo(queue, manager, 1)) {
                io.awaitStart();
                var borrower = new HostileBorrower(harness, random, io.canary());
                borrower.startToChangeMemory();
                var completed = 0L;
                for (var done = 0; done < entries; done += ROUND) {
                    completed += round(harness, admin, borrower, 2 + random.nextInt(8));
                    if (done % (entries / RESTARTS) == 0) {
                        borrower.restart();
                    }
                }
                borrower.stopChangingMemory();
                borrower.assertGuardsUntouched();
                assertThat(harness.controller().failures()).isZero();
                assertThat(completed).isGreaterThan(entries / 4);
                io.awaitProgress();
            }
            assertThat(harness.host().refusedAccesses()).isPositive();
        }
    }

    /** Returns any queue but those of the other borrower. */
    private int anyDoorbellQueue() {
        return 2 + random.nextInt(63);
    }

    /** Uses a new queue for some hundred commands, and returns the number of completions. */
    private long round(Harness harness, TestQueue admin, HostileBorrower borrower, int id) {
        assertThat(
                        admin.status(
                                Harness.createCompletionQueue(
                                        id, HostileBorrower.ENTRIES, borrower.completions())))
                .isEqualTo(Status.SUCCESS);
        assertThat(
                        admin.status(
                                Harness.createSubmissionQueue(
                                        id, HostileBorrower.ENTRIES, borrower.submissions(), id)))
                .isEqualTo(Status.SUCCESS);
        var registers = harness.registers();
        var completions = borrower.memory().asSlice(4096, HostileBorrower.ENTRIES * 16L);
        completions.fill((byte) 0);
        var tail = 0;
        var head = 0;
        var phase = 1;
        var completed = 0L;
        for (var written = 0; written < ROUND; written += BATCH) {
            for (var i = 0; i < BATCH; i++) {
                borrower.writeIoCommand(tail);
                tail = (tail + 1) % HostileBorrower.ENTRIES;
            }
            for (var i = 0; i < BATCH; i++) {
                var other = anyDoorbellQueue();
                // a value for the own queue delays this test until its timeout
                if (other != id || random.nextInt(50) == 0) {
                    var doorbell = MappedRegisters.tailDoorbell(other, STRIDE);
                    registers.write(doorbell + 4L * random.nextInt(2), random.nextInt(64) - 16);
                }
            }
            registers.write(MappedRegisters.tailDoorbell(id, STRIDE), tail);
            var deadline = System.nanoTime() + STALL_NANOS;
            for (var taken = 0; taken < BATCH && System.nanoTime() < deadline; ) {
                if (Completion.decode(completions, head * 16L).phase() == phase) {
                    head = (head + 1) % HostileBorrower.ENTRIES;
                    phase = head == 0 ? 1 - phase : phase;
                    taken++;
                    completed++;
                }
            }
            registers.write(MappedRegisters.headDoorbell(id, STRIDE), head);
        }
        assertThat(admin.status(Harness.delete(AdminOpcode.DELETE_SUBMISSION_QUEUE, id)))
                .isEqualTo(Status.SUCCESS);
        assertThat(admin.status(Harness.delete(AdminOpcode.DELETE_COMPLETION_QUEUE, id)))
                .isEqualTo(Status.SUCCESS);
        return completed;
    }

    /**
     * Both hosts have a controller of their own. A reservation protects the namespace of the host
     * that does I/O.
     */
    private void fuzzController(int entries) throws Exception {
        try (var storage = Harness.storage();
                var other = BlockStorage.inMemory(1000, 4096)) {
            var subsystem = Harness.subsystem(storage, other);
            try (var harness = new Harness(subsystem);
                    var attacked = new Harness(subsystem)) {
                var manager = harness.borrower(Harness.MANAGER);
                var admin = harness.enable(manager);
                var queue = harness.createQueue(admin, 1, 8, manager);
                Harness.reserve(admin, queue, manager.allocate(4096), random.nextLong());
                try (var io = new VerifiedIo(queue, manager, 1)) {
                    io.awaitStart();
                    var borrower = new HostileBorrower(attacked, random, io.canary());
                    for (var done = 0; done < entries; done += ROUND) {
                        adminRound(attacked, borrower);
                        if (done % (entries / RESTARTS) == 0) {
                            borrower.restart();
                        }
                    }
                    borrower.assertGuardsUntouched();
                    assertThat(attacked.controller().failures()).isZero();
                    io.awaitProgress();
                }
                // the controller still starts
                attacked.disable();
                assertThat(
                                attacked.enable(attacked.borrower(3))
                                        .status(Command.admin(AdminOpcode.FORMAT)))
                        .isEqualTo(Status.INVALID_OPCODE);
            }
        }
    }

    private void adminRound(Harness harness, HostileBorrower borrower) {
        var registers = harness.registers();
        harness.disable();
        harness.writeAdminRegisters(
                HostileBorrower.ENTRIES, borrower.submissions(), borrower.completions());
        harness.configure(Configuration.ENABLED);
        var tail = 0;
        for (var written = 0; written < ROUND; written += BATCH) {
            for (var i = 0; i < BATCH; i++) {
                borrower.writeAdminCommand(tail);
                tail = (tail + 1) % HostileBorrower.ENTRIES;
            }
            if (random.nextInt(10) == 0) {
                borrower.writeAnyRegister();
            }
            var previous = borrower.memory().get(JAVA_INT, 4096 + 8);
            registers.write(MappedRegisters.tailDoorbell(0, STRIDE), tail);
            var deadline = System.nanoTime() + STALL_NANOS / 10;
            while (borrower.memory().get(JAVA_INT, 4096 + 8) == previous
                    && System.nanoTime() < deadline) {
                Thread.onSpinWait();
            }
            registers.write(MappedRegisters.headDoorbell(0, STRIDE), tail);
        }
    }
}
