package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.TestBorrower.Memory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the limit of the work that a controller does in one poll, and commands that run side by
 * side.
 */
@Timeout(60)
class PollLimitTest {

    private static final int COMMANDS = 8;
    private static final int BLOCK_BYTES = 4096;
    private static final int BLOCKS = (16 << 20) / BLOCK_BYTES;

    @TempDir Path folder;

    private interface Program {
        void run(Harness harness, TestQueue queue, Memory data);
    }

    private static void use(Subsystem subsystem, Program program) {
        try (var harness = new Harness(subsystem)) {
            var manager = harness.borrower(Harness.MANAGER);
            var queue = harness.createQueue(harness.enable(manager), 1, 16, manager);
            program.run(harness, queue, manager.allocate(TestBorrower.PAGE));
        }
    }

    /** Executes a command several times, and returns the number of polls that did work. */
    private static long busyPolls(Harness harness, TestQueue queue, Command command) {
        harness.model().stop();
        var before = harness.model().busyPolls();
        for (var i = 0; i < COMMANDS; i++) {
            queue.add(command.withId(i));
        }
        queue.ring();
        harness.model().resume();
        for (var i = 0; i < COMMANDS; i++) {
            assertThat(Status.of(queue.await().status())).contains(Status.SUCCESS);
        }
        return harness.model().busyPolls() - before;
    }

    @Test
    void shouldDeallocateBlocksInPartsOfALimitedSize() {
        try (var storage = BlockStorage.inMemory(BLOCKS, BLOCK_BYTES)) {
            use(
                    Harness.subsystem(storage),
                    (harness, queue, data) -> {
                        data.segment().set(JAVA_INT, 4, BLOCKS / 2 + 1);
                        data.segment().set(JAVA_INT, 20, BLOCKS / 2 - 1);
                        data.segment().set(JAVA_LONG, 24, BLOCKS / 2 + 1);
                        var deallocate =
                                Command.admin(IoOpcode.DATASET_MANAGEMENT)
                                        .withNamespace(1)
                                        .withData(data.address(), 0)
                                        .withDwords(1, 4, 0);
                        // the last command may be complete before its poll was counted
                        assertThat(busyPolls(harness, queue, deallocate))
                                .isGreaterThanOrEqualTo(4 * COMMANDS - 1);
                        for (var block : new int[] {0, BLOCKS / 2, BLOCKS - 1}) {
                            data.segment().fill((byte) 1);
                            var read = Command.blocks(IoOpcode.READ, 1, block, 1);
                            assertThat(queue.status(read.withData(data.address(), 0)))
                                    .isEqualTo(Status.SUCCESS);
                            Harness.assertZero(data.segment());
                        }
                    });
        }
    }

    @Test
    void shouldMakeANamespaceDurableAtMostOnceInAPoll() throws Exception {
        try (var first = BlockStorage.inFile(folder.resolve("1"), 8, BLOCK_BYTES);
                var second = BlockStorage.inFile(folder.resolve("2"), 8, BLOCK_BYTES)) {
            use(
                    Harness.subsystem(first, second),
                    (harness, queue, data) -> {
                        var flush = Command.blocks(IoOpcode.FLUSH, 1, 0, 1);
                        assertThat(busyPolls(harness, queue, flush))
                                .isGreaterThanOrEqualTo(COMMANDS - 1);
                        var flushAll = flush.withNamespace(Command.ALL_NAMESPACES);
                        assertThat(busyPolls(harness, queue, flushAll))
                                .isGreaterThanOrEqualTo(2 * COMMANDS - 1);
                        var forced =
                                Command.blocks(IoOpcode.WRITE, 1, 0, 1)
                                        .withData(data.address(), 0)
                                        .withDwords(0, 0, 1 << 30);
                        assertThat(busyPolls(harness, queue, forced))
                                .isGreaterThanOrEqualTo(COMMANDS - 1);
                    });
        }
    }

    @Test
    void shouldReadWhileAnotherControllerReads() {
        try (var storage = BlockStorage.inMemory(BLOCKS, BLOCK_BYTES)) {
            var subsystem = Harness.subsystem(storage);
            use(
                    subsystem,
                    (_, queue, data) -> {
                        var lockOfAnotherRead = subsystem.namespaces().getFirst().lock(true);
                        lockOfAnotherRead.lock();
                        try {
                            var read = Command.blocks(IoOpcode.READ, 1, 0, 1);
                            assertThat(queue.status(read.withData(data.address(), 0)))
                                    .isEqualTo(Status.SUCCESS);
                        } finally {
                            lockOfAnotherRead.unlock();
                        }
                    });
        }
    }
}
