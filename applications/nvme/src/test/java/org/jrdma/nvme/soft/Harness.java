package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.ReservationType;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.TestBorrower.Memory;
import org.jrdma.soft.sisci.device.DeviceHost;

/** A controller on a host in this process, and the steps by which a driver uses it. */
final class Harness implements AutoCloseable {

    static final int MANAGER = 1;
    static final int GUEST = 2;
    static final int ADMIN_ENTRIES = 16;
    static final int NAMESPACE = 1;
    static final int BLOCKS = 4096;
    static final int BLOCK_BYTES = 512;

    private static final long TIMEOUT_NANOS = 30_000_000_000L;

    private final Arena arena = Arena.ofShared();
    private final MappedRegisters registers = new MappedRegisters(arena.allocate(0x4000, 4096));
    private final NvmeController controller;
    private final FailureRecordingDeviceModel model;
    private final DeviceHost host;

    Harness(Subsystem subsystem) {
        controller = subsystem.newController();
        model = new FailureRecordingDeviceModel(controller);
        host = DeviceHost.start(model, List.of(registers.memory()));
    }

    /** Returns a subsystem with one namespace for each storage. */
    static Subsystem subsystem(BlockStorage... storages) {
        var subsystem = new Subsystem("serial 1", "jrdma test");
        for (var storage : storages) {
            var _ = subsystem.addNamespace(storage);
        }
        return subsystem;
    }

    static BlockStorage storage() {
        return BlockStorage.inMemory(BLOCKS, BLOCK_BYTES);
    }

    MappedRegisters registers() {
        return registers;
    }

    NvmeController controller() {
        return controller;
    }

    FailureRecordingDeviceModel model() {
        return model;
    }

    DeviceHost host() {
        return host;
    }

    Arena arena() {
        return arena;
    }

    TestBorrower borrower(int number) {
        return new TestBorrower(host, number, arena, 4 << 20);
    }

    void writeAdminRegisters(int entries, long submissions, long completions) {
        registers.write(
                MappedRegisters.ADMIN_QUEUE_ATTRIBUTES,
                MappedRegisters.adminQueueAttributes(entries, entries));
        registers.writeLong(MappedRegisters.ADMIN_SUBMISSION_QUEUE, submissions);
        registers.writeLong(MappedRegisters.ADMIN_COMPLETION_QUEUE, completions);
    }

    void configure(Configuration configuration) {
        registers.write(MappedRegisters.CONFIGURATION, configuration.encode());
    }

    /**
     * Spins until a condition is true. Fails after 30 seconds, because a spin ignores interrupts.
     */
    static void await(BooleanSupplier condition) {
        var start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > TIMEOUT_NANOS) {
                throw new AssertionError("The controller did not respond within 30 seconds");
            }
            Thread.onSpinWait();
        }
    }

    void awaitStatus(int mask, int value) {
        await(() -> (registers.read(MappedRegisters.STATUS) & mask) == value);
    }

    /** Starts the controller, and returns its admin queue in the memory of a borrower. */
    TestQueue enable(TestBorrower manager) {
        var admin = new TestQueue(registers, 0, ADMIN_ENTRIES, manager);
        writeAdminRegisters(
                ADMIN_ENTRIES, admin.submissions().address(), admin.completions().address());
        configure(Configuration.ENABLED);
        awaitStatus(MappedRegisters.READY, MappedRegisters.READY);
        return admin;
    }

    void disable() {
        configure(Configuration.ENABLED.enabled(false));
        awaitStatus(MappedRegisters.READY, 0);
    }

    static Command createCompletionQueue(int id, int entries, long address) {
        return Command.admin(AdminOpcode.CREATE_COMPLETION_QUEUE)
                .withData(address, 0)
                .withDwords((entries - 1) << 16 | id, 1, 0);
    }

    static Command createSubmissionQueue(int id, int entries, long address, int completionQueue) {
        return Command.admin(AdminOpcode.CREATE_SUBMISSION_QUEUE)
                .withData(address, 0)
                .withDwords((entries - 1) << 16 | id, completionQueue << 16 | 1, 0);
    }

    static Command delete(int opcode, int id) {
        return Command.admin(opcode).withDwords(id, 0, 0);
    }

    /** Creates an I/O queue in the memory of a borrower. */
    TestQueue createQueue(TestQueue admin, int id, int entries, TestBorrower owner) {
        var queue = new TestQueue(registers, id, entries, owner);
        assertThat(admin.status(createCompletionQueue(id, entries, queue.completions().address())))
                .isEqualTo(Status.SUCCESS);
        assertThat(
                        admin.status(
                                createSubmissionQueue(
                                        id, entries, queue.submissions().address(), id)))
                .isEqualTo(Status.SUCCESS);
        return queue;
    }

    /** Sets a host identifier, and reserves namespace 1 for this host. */
    static void reserve(TestQueue admin, TestQueue queue, Memory page, long key) {
        page.segment().set(JAVA_LONG, 0, 1);
        var setHost = Command.admin(AdminOpcode.SET_FEATURES);
        assertThat(
                        admin.status(
                                setHost.withData(page.address(), 0)
                                        .withDwords(FeatureId.HOST_IDENTIFIER, 0, 0)))
                .isEqualTo(Status.SUCCESS);
        page.segment().set(JAVA_LONG, 0, key);
        page.segment().set(JAVA_LONG, 8, key);
        for (var opcode : new int[] {IoOpcode.RESERVATION_REGISTER, IoOpcode.RESERVATION_ACQUIRE}) {
            var type =
                    opcode == IoOpcode.RESERVATION_ACQUIRE
                            ? ReservationType.EXCLUSIVE_ACCESS.code() << 8
                            : 0;
            var command = Command.blocks(opcode, NAMESPACE, 0, 1).withData(page.address(), 0);
            assertThat(queue.status(command.withDwords(type, 0, 0))).isEqualTo(Status.SUCCESS);
        }
    }

    static void assertZero(MemorySegment memory) {
        assertThat(memory.mismatch(Arena.ofAuto().allocate(memory.byteSize()))).isEqualTo(-1);
    }

    @Override
    public void close() {
        host.close();
        arena.close();
        model.assertNoFailure();
    }
}
