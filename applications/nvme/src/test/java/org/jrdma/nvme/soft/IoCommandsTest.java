package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.TestBorrower.Memory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Read, write, flush, write zeroes, dataset management and data pointers, with each rejection. */
class IoCommandsTest extends ControllerTestBase {

    private static final int PAGE = TestBorrower.PAGE;
    private static final int BLOCK = Harness.BLOCK_BYTES;

    private final Random random = new Random(21);
    private TestQueue queue;
    private Memory data;

    @BeforeEach
    void createQueue() {
        queue = harness.createQueue(admin, 1, 16, manager);
        data = manager.allocate(2 << 20);
    }

    private Command write(long block, int blocks) {
        return Command.blocks(IoOpcode.WRITE, 1, block, blocks).withData(data.address(), 0);
    }

    private Command read(long block, int blocks) {
        return Command.blocks(IoOpcode.READ, 1, block, blocks).withData(data.address(), 0);
    }

    private byte[] fill(MemorySegment memory) {
        var bytes = new byte[(int) memory.byteSize()];
        random.nextBytes(bytes);
        MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, bytes.length);
        return bytes;
    }

    private void assertBlocks(long block, byte[] expected) {
        var target = manager.allocate(PAGE);
        for (var offset = 0; offset < expected.length; offset += BLOCK) {
            var command = Command.blocks(IoOpcode.READ, 1, block + offset / BLOCK, 1);
            assertThat(queue.status(command.withData(target.address(), 0)))
                    .isEqualTo(Status.SUCCESS);
            var part = MemorySegment.ofArray(expected).asSlice(offset, BLOCK);
            assertThat(target.segment().asSlice(0, BLOCK).mismatch(part)).isEqualTo(-1);
        }
    }

    private void assertPattern(long firstBlock, int blocks, int value) {
        var expected = new byte[blocks * BLOCK];
        java.util.Arrays.fill(expected, (byte) value);
        assertBlocks(firstBlock, expected);
    }

    @Test
    void shouldReadWhatWasWritten() {
        var bytes = fill(data.segment().asSlice(0, 8 * BLOCK));
        assertThat(queue.status(write(100, 8))).isEqualTo(Status.SUCCESS);
        data.segment().fill((byte) 0);
        assertThat(queue.status(read(100, 8))).isEqualTo(Status.SUCCESS);
        assertThat(data.segment().asSlice(0, 8 * BLOCK).toArray(JAVA_BYTE)).isEqualTo(bytes);
        assertBlocks(100, bytes);
        assertPattern(99, 1, 0);
        assertPattern(108, 1, 0);
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 1",
        "4096, 1",
        "4095, 2",
        "0x100000000, 1",
        "0x7fffffffffffffff, 2",
        "-9223372036854775808, 1",
        "0x0080000000000000, 1"
    })
    void shouldRejectBlocksBeyondTheEndAndLeaveTheMemoryUntouched(String block, int blocks) {
        data.segment().fill((byte) 0x5a);
        long first = Long.decode(block);
        assertThat(queue.status(read(first, blocks))).isEqualTo(Status.LBA_OUT_OF_RANGE);
        assertThat(queue.status(write(first, blocks))).isEqualTo(Status.LBA_OUT_OF_RANGE);
        assertThat(queue.status(Command.blocks(IoOpcode.WRITE_ZEROES, 1, first, blocks)))
                .isEqualTo(Status.LBA_OUT_OF_RANGE);
        assertThat(data.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
        assertPattern(4095, 1, 0);
    }

    @Test
    void shouldAccessTheLastBlock() {
        data.segment().fill((byte) 7);
        assertThat(queue.status(write(4095, 1))).isEqualTo(Status.SUCCESS);
        assertPattern(4095, 1, 7);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, -1, Integer.MIN_VALUE})
    void shouldRejectUnknownNamespaces(int namespace) {
        for (var opcode : new int[] {0x01, 0x02, 0x08, 0x09, 0x0d, 0x0e, 0x11, 0x15}) {
            var command = Command.blocks(opcode, namespace, 0, 1).withData(data.address(), 0);
            assertThat(queue.status(command)).isEqualTo(Status.INVALID_NAMESPACE);
        }
        assertThat(queue.status(Command.blocks(IoOpcode.FLUSH, namespace, 0, 1)))
                .isEqualTo(namespace == -1 ? Status.SUCCESS : Status.INVALID_NAMESPACE);
    }

    @ParameterizedTest
    @ValueSource(ints = {0x04, 0x05, 0x0c, 0x19, 0x7f, 0x80, 0xff})
    void shouldRejectUnknownCommands(int opcode) {
        assertThat(queue.status(Command.blocks(opcode, 1, 0, 1))).isEqualTo(Status.INVALID_OPCODE);
        assertThat(queue.status(Command.blocks(opcode, 9, 0, 1))).isEqualTo(Status.INVALID_OPCODE);
    }

    @Test
    void shouldRejectTransfersAboveTheLimit() {
        assertThat(queue.status(list(IoOpcode.READ, 1025, 0))).isEqualTo(Status.INVALID_FIELD);
        assertThat(queue.status(read(0, 65_536))).isEqualTo(Status.INVALID_FIELD);
    }

    /** Returns a command with a list of the pages of the data in a page at its end. */
    private Command list(int opcode, int blocks, int offset) {
        var list = data.at(data.segment().byteSize() - PAGE);
        for (var i = 0; i < PAGE / 8; i++) {
            list.segment().setAtIndex(JAVA_LONG, i, data.address() + (i + 1L) * PAGE);
        }
        return Command.blocks(opcode, 1, 0, blocks)
                .withData(data.address() + offset, list.address());
    }

    @ParameterizedTest
    @CsvSource({"8, 0", "8, 512", "16, 0", "16, 4092", "17, 4", "1024, 0", "1024, 2048", "24, 8"})
    void shouldTransferByListsOfPages(int blocks, int offset) {
        var part = data.segment().asSlice(offset, (long) blocks * BLOCK);
        var bytes = fill(part);
        var isTwoPages = offset + blocks * BLOCK <= 2 * PAGE;
        var command = list(IoOpcode.WRITE, blocks, offset);
        if (isTwoPages) {
            command = command.withData(data.address() + offset, data.address() + PAGE);
        }
        assertThat(queue.status(command)).isEqualTo(Status.SUCCESS);
        assertBlocks(0, bytes);
        part.fill((byte) 0);
        var read = Command.blocks(IoOpcode.READ, 1, 0, blocks);
        assertThat(queue.status(read.withData(command.prp1(), command.prp2())))
                .isEqualTo(Status.SUCCESS);
        assertThat(part.toArray(JAVA_BYTE)).isEqualTo(bytes);
    }

    @Test
    void shouldFollowChainsOfLists() {
        // Nine pages in reverse order: lists of one, three and the remaining entries.
        var bytes = fill(data.segment().asSlice(0, 9 * PAGE));
        assertThat(queue.status(list(IoOpcode.WRITE, 72, 0))).isEqualTo(Status.SUCCESS);
        var lists = manager.allocate(3 * PAGE);
        var entries = lists.segment();
        entries.set(JAVA_LONG, PAGE - 8, lists.address() + PAGE); // the chain begins at once
        for (var i = 0; i < 8; i++) {
            entries.set(JAVA_LONG, PAGE + 8L * i, data.address() + (7L - i) * PAGE);
        }
        var read =
                Command.blocks(IoOpcode.READ, 1, 0, 72)
                        .withData(data.address() + 8 * PAGE, lists.address() + PAGE - 8);
        assertThat(queue.status(read)).isEqualTo(Status.SUCCESS);
        for (var i = 0; i < 9; i++) {
            var expected = MemorySegment.ofArray(bytes).asSlice((long) i * PAGE, PAGE);
            assertThat(data.segment().asSlice((8L - i) * PAGE, PAGE).mismatch(expected))
                    .isEqualTo(-1);
        }
    }

    @Test
    void shouldRejectMisalignedDataPointers() {
        var read = read(0, 32);
        var good = list(IoOpcode.READ, 32, 0);
        assertThat(queue.status(read.withData(data.address() + 2, good.prp2())))
                .isEqualTo(Status.PRP_OFFSET_INVALID);
        assertThat(queue.status(read.withData(data.address(), good.prp2() + 4)))
                .isEqualTo(Status.PRP_OFFSET_INVALID);
        assertThat(queue.status(read(0, 16).withData(data.address(), data.address() + 4104)))
                .isEqualTo(Status.PRP_OFFSET_INVALID);
        var list = data.at(data.segment().byteSize() - PAGE).segment();
        list.set(JAVA_LONG, 8, data.address() + 512);
        assertThat(queue.status(good)).isEqualTo(Status.PRP_OFFSET_INVALID);
        list.set(JAVA_LONG, PAGE - 8, data.address() + 512); // a chain to a misaligned list
        assertThat(queue.status(read.withData(data.address(), good.prp2() + PAGE - 8)))
                .isEqualTo(Status.PRP_OFFSET_INVALID);
    }

    @Test
    void shouldRejectDataPointersOutsideTheMappedMemoryAndLeaveItsNeighborUntouched() {
        var guest = harness.borrower(Harness.GUEST).allocate(PAGE);
        guest.segment().fill((byte) 0x5a);
        for (var address :
                new long[] {
                    0,
                    4096,
                    -4096,
                    Long.MIN_VALUE,
                    manager.end(),
                    guest.address(),
                    guest.address() + PAGE,
                    99L << 40,
                    Long.MAX_VALUE - 4095
                }) {
            var read = read(0, 8).withData(address, 0);
            assertThat(queue.status(read))
                    .as("data at 0x%x", address)
                    .isEqualTo(
                            address % 4 == 0
                                    ? Status.DATA_TRANSFER_ERROR
                                    : Status.PRP_OFFSET_INVALID);
            var second = read(0, 16).withData(data.address(), address);
            assertThat(queue.status(second)).isNotEqualTo(Status.SUCCESS);
            var list = list(IoOpcode.READ, 32, 0);
            data.at(data.segment().byteSize() - PAGE).segment().set(JAVA_LONG, 8, address);
            assertThat(queue.status(list)).isNotEqualTo(Status.SUCCESS);
            assertThat(queue.status(read(0, 32).withData(data.address(), address & -8)))
                    .isNotEqualTo(Status.SUCCESS);
        }
        assertThat(guest.segment().get(JAVA_BYTE, 0)).isEqualTo((byte) 0x5a);
        assertThat(guest.segment().get(JAVA_BYTE, PAGE - 1)).isEqualTo((byte) 0x5a);
    }

    @Test
    void shouldNotWriteBlocksFromMemoryThatIsNotMapped() {
        assertThat(queue.status(write(0, 8).withData(manager.end(), 0)))
                .isEqualTo(Status.DATA_TRANSFER_ERROR);
        assertPattern(0, 8, 0);
    }

    @Test
    void shouldSetBlocksToZero() {
        data.segment().fill((byte) 9);
        assertThat(queue.status(list(IoOpcode.WRITE, 64, 0))).isEqualTo(Status.SUCCESS);
        assertThat(queue.status(Command.blocks(IoOpcode.WRITE_ZEROES, 1, 1, 62)))
                .isEqualTo(Status.SUCCESS);
        assertPattern(0, 1, 9);
        assertPattern(1, 62, 0);
        assertPattern(63, 1, 9);
    }

    @Test
    void shouldCompleteACommandThatFailsWithAnError() {
        harness.model().failWritesTo(data.address());
        assertThat(queue.status(read(0, 1))).isEqualTo(Status.INTERNAL_ERROR);
        var identify = Command.admin(AdminOpcode.IDENTIFY).withDwords(1, 0, 0);
        assertThat(admin.status(identify.withData(data.address(), 0)))
                .isEqualTo(Status.INTERNAL_ERROR);
        harness.model().failWritesTo(0);
        assertThat(queue.status(read(0, 1))).isEqualTo(Status.SUCCESS);
    }

    private Command deallocate(int ranges, int attributes) {
        return Command.admin(IoOpcode.DATASET_MANAGEMENT)
                .withNamespace(1)
                .withData(page.address(), 0)
                .withDwords(ranges - 1, attributes, 0);
    }

    private void range(int index, long block, int blocks) {
        page.segment().set(JAVA_INT, index * 16L + 4, blocks);
        page.segment().set(JAVA_LONG, index * 16L + 8, block);
    }

    @Test
    void shouldDeallocateRanges() {
        data.segment().fill((byte) 9);
        assertThat(queue.status(list(IoOpcode.WRITE, 64, 0))).isEqualTo(Status.SUCCESS);
        range(0, 0, 2);
        range(1, 10, 1);
        assertThat(queue.status(deallocate(2, 0))).isEqualTo(Status.SUCCESS);
        assertPattern(0, 2, 9);
        assertThat(queue.status(deallocate(2, 4))).isEqualTo(Status.SUCCESS);
        assertPattern(0, 2, 0);
        assertPattern(2, 8, 9);
        assertPattern(10, 1, 0);
        for (var i = 0; i < 256; i++) {
            range(i, 0, Harness.BLOCKS); // more than the controller deallocates at once
        }
        assertThat(queue.status(deallocate(256, 4))).isEqualTo(Status.SUCCESS);
        range(255, 4000, 97);
        assertThat(queue.status(deallocate(256, 4))).isEqualTo(Status.LBA_OUT_OF_RANGE);
        range(255, Long.MAX_VALUE, -1);
        assertThat(queue.status(deallocate(256, 4))).isEqualTo(Status.LBA_OUT_OF_RANGE);
        range(255, -1, 1);
        assertThat(queue.status(deallocate(256, 4))).isEqualTo(Status.LBA_OUT_OF_RANGE);
    }

    @Test
    void shouldStopWhileTheCompletionQueueIsFull() {
        var flush = Command.blocks(IoOpcode.FLUSH, 1, 0, 1);
        for (var i = 0; i < 15; i++) {
            queue.submit(flush.withId(i));
        }
        for (var i = 0; i < 15; i++) {
            assertThat(queue.take().commandId()).isEqualTo(i);
        }
        queue.submit(flush.withId(15));
        queue.submit(flush.withId(16));
        var _ = admin.execute(Command.admin(0xff));
        assertThat(queue.hasCompletion()).isFalse();
        queue.ringHead(1);
        assertThat(queue.take().commandId()).isEqualTo(15);
        var _ = admin.execute(Command.admin(0xff));
        assertThat(queue.hasCompletion()).isFalse();
        queue.ringHead(15);
        assertThat(queue.await().commandId()).isEqualTo(16);
    }
}
