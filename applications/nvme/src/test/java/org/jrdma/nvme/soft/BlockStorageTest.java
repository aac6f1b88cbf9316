package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.SmartLog;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.TestBorrower.Memory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Namespaces in files, and failures of the medium. */
@Timeout(60)
class BlockStorageTest {

    private static final int BLOCKS = 64;
    private static final int BLOCK_BYTES = 4096;

    @TempDir Path folder;

    private interface Program {
        void run(Harness harness, TestQueue admin, TestQueue queue, Memory data) throws Exception;
    }

    private static void use(BlockStorage storage, Program program) throws Exception {
        try (storage;
                var harness = new Harness(Harness.subsystem(storage))) {
            var manager = harness.borrower(Harness.MANAGER);
            var admin = harness.enable(manager);
            var queue = harness.createQueue(admin, 1, 8, manager);
            program.run(harness, admin, queue, manager.allocate(2 * BLOCK_BYTES));
        }
    }

    private static Command blocks(int opcode, long block, Memory data) {
        return Command.blocks(opcode, 1, block, 1).withData(data.address(), 0);
    }

    @Test
    void shouldKeepBlocksInAFile() throws Exception {
        var file = folder.resolve("blocks");
        use(
                BlockStorage.inFile(file, BLOCKS, BLOCK_BYTES),
                (harness, _, queue, data) -> {
                    data.segment().fill((byte) 5);
                    assertThat(queue.status(blocks(IoOpcode.WRITE, 63, data)))
                            .isEqualTo(Status.SUCCESS);
                    assertThat(queue.status(blocks(IoOpcode.FLUSH, 0, data)))
                            .isEqualTo(Status.SUCCESS);
                    var forced = blocks(IoOpcode.WRITE, 62, data);
                    assertThat(queue.status(forced.withDwords(62, 0, 1 << 30)))
                            .isEqualTo(Status.SUCCESS);
                    harness.configure(Configuration.ENABLED.shutdown(1));
                    harness.awaitStatus(
                            MappedRegisters.SHUTDOWN_MASK, MappedRegisters.SHUTDOWN_COMPLETE);
                });
        assertThat(Files.size(file)).isEqualTo((long) BLOCKS * BLOCK_BYTES);
        use(
                BlockStorage.inFile(file, BLOCKS, BLOCK_BYTES),
                (_, _, queue, data) -> {
                    for (var block = 61; block < 64; block++) {
                        assertThat(queue.status(blocks(IoOpcode.READ, block, data)))
                                .isEqualTo(Status.SUCCESS);
                        assertThat(data.segment().get(JAVA_BYTE, 4095))
                                .isEqualTo((byte) (block == 61 ? 0 : 5));
                    }
                });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 4032, 4092})
    void shouldReportAMediaErrorIfTheFileIsTruncated(int offset) throws Exception {
        var file = folder.resolve("blocks");
        use(
                BlockStorage.inFile(file, BLOCKS, BLOCK_BYTES),
                (_, admin, queue, data) -> {
                    truncate(file, BLOCK_BYTES);
                    var prp1 = data.address() + offset;
                    var prp2 = data.address() + 4096;
                    assertThat(queue.status(blocks(IoOpcode.READ, 8, data).withData(prp1, prp2)))
                            .isEqualTo(Status.UNRECOVERED_READ_ERROR);
                    assertThat(queue.status(blocks(IoOpcode.WRITE, 8, data).withData(prp1, prp2)))
                            .isEqualTo(Status.WRITE_FAULT);
                    assertThat(queue.status(blocks(IoOpcode.WRITE_ZEROES, 8, data)))
                            .isEqualTo(Status.WRITE_FAULT);
                    assertThat(queue.status(blocks(IoOpcode.WRITE, 0, data).withData(prp1, prp2)))
                            .isEqualTo(Status.SUCCESS);
                    var log =
                            Command.admin(AdminOpcode.GET_LOG_PAGE)
                                    .withDwords(LogPage.SMART | 127 << 16, 0, 0);
                    assertThat(admin.status(log.withData(data.address(), 0)))
                            .isEqualTo(Status.SUCCESS);
                    assertThat(SmartLog.decode(data.segment()).mediaErrors()).isEqualTo(3);
                });
    }

    private static void truncate(Path file, long bytes) throws IOException {
        try (var channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            var _ = channel.truncate(bytes);
        }
    }

    @Test
    void shouldReportAMediaErrorIfTheStorageIsClosed() throws Exception {
        var storage = BlockStorage.inMemory(BLOCKS, BLOCK_BYTES);
        use(
                storage,
                (_, _, queue, data) -> {
                    storage.close();
                    assertThat(queue.status(blocks(IoOpcode.READ, 0, data)))
                            .isEqualTo(Status.UNRECOVERED_READ_ERROR);
                    assertThat(queue.status(blocks(IoOpcode.WRITE, 0, data)))
                            .isEqualTo(Status.WRITE_FAULT);
                    storage.close();
                });
    }

    @Test
    void shouldSetBlocksToZeroOverSeveralPolls() throws Exception {
        use(
                BlockStorage.inMemory(1 << 14, BLOCK_BYTES),
                (_, admin, queue, data) -> {
                    data.segment().fill((byte) 5);
                    for (var block : new long[] {0, 3000, 16_382, 16_383}) {
                        assertThat(queue.status(blocks(IoOpcode.WRITE, block, data)))
                                .isEqualTo(Status.SUCCESS);
                    }
                    queue.submit(Command.blocks(IoOpcode.WRITE_ZEROES, 1, 0, 16_383).withId(9));
                    assertThat(admin.status(Command.admin(0xff))).isEqualTo(Status.INVALID_OPCODE);
                    assertThat(queue.await().commandId()).isEqualTo(9);
                    for (var block : new long[] {0, 3000, 16_382, 16_383}) {
                        assertThat(queue.status(blocks(IoOpcode.READ, block, data)))
                                .isEqualTo(Status.SUCCESS);
                        assertThat(data.segment().get(JAVA_BYTE, 7))
                                .isEqualTo((byte) (block == 16_383 ? 5 : 0));
                    }
                });
    }

    @ParameterizedTest
    @CsvSource({
        "0, 512",
        "-1, 512",
        "1, 0",
        "1, 256",
        "1, 768",
        "1, 8192",
        "9223372036854775807, 512"
    })
    void shouldRejectInvalidSizes(long blocks, int blockBytes) {
        assertThatThrownBy(() -> BlockStorage.inMemory(blocks, blockBytes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("power of two");
    }

    @Test
    void shouldRejectAFileThatCannotBeCreated() {
        assertThatThrownBy(() -> BlockStorage.inFile(folder.resolve("a/b"), 1, 512))
                .isInstanceOf(IOException.class);
    }
}
