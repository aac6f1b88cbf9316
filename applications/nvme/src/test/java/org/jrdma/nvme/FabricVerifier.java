package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.jrdma.ffi.FabricException;

/**
 * Writes and reads random blocks of a range, several commands at a time, and verifies that each
 * read returns the last write.
 */
final class FabricVerifier {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int MAX_TOTAL_BLOCKS = 16_384;
    private static final int MIN_DEPTH = 4;
    private static final int ATTEMPTS_PER_SIZE = 64;

    /** A pending command, whose buffer has the same index. */
    private record Transfer(boolean isWrite, int block, int blocks) {}

    private final NvmeDrive drive;
    private final int depth;
    private final int blockBytes;
    private final int maxBlocks;
    private final int first;

    /** The number of the last write of each block, which no command but the pending one changes. */
    private final long[] expected;

    private final BitSet busyBlocks = new BitSet();
    private final Random random;
    private long writes;
    private volatile int completed;

    /**
     * Creates a verifier.
     *
     * @param depth the number of commands that are pending at the same time
     * @param first the first block of the range
     * @param blocks the number of blocks, which no other verifier uses
     */
    FabricVerifier(NvmeDrive drive, int depth, int first, int blocks) {
        var shift = drive.namespaces().getFirst().blockShift();
        this.drive = drive;
        this.depth = depth;
        this.blockBytes = 1 << shift;
        this.maxBlocks = Math.min(drive.maxTransferBytes() >>> shift, blocks / 2);
        this.first = first;
        this.expected = new long[blocks];
        this.random = new Random(first);
    }

    /** Returns the number of commands that the current run has completed. */
    int completed() {
        return completed;
    }

    /** Verifies transfers from one block to the largest transfer, with other offsets. */
    static void verifySizes(NvmeDrive drive) throws FabricException {
        var namespace = drive.namespaces().getFirst();
        var shift = namespace.blockShift();
        try (var queue = drive.newQueue(2);
                var memory = drive.newMemory(2L * drive.maxTransferBytes())) {
            for (var bytes = 1 << shift; bytes <= drive.maxTransferBytes(); bytes *= 2) {
                var written = new byte[bytes];
                new Random(bytes).nextBytes(written);
                memory.segment().asSlice(4, bytes).copyFrom(MemorySegment.ofArray(written));
                assertThat(queue.write(namespace, 5, bytes >>> shift, memory, 4, 1)).isTrue();
                complete(queue);
                memory.segment().fill((byte) 0);
                assertThat(queue.read(namespace, 5, bytes >>> shift, memory, 512, 1)).isTrue();
                complete(queue);
                var read = memory.segment().asSlice(512, bytes);
                assertThat(read.mismatch(MemorySegment.ofArray(written))).isEqualTo(-1);
                assertThat(memory.segment().get(JAVA_LONG, 504)).isZero();
                assertThat(queue.flush(namespace, 2)).isTrue();
                complete(queue);
            }
        }
    }

    /**
     * Verifies some commands on each of several queues at the same time. The queues have the depths
     * 4, 8, 16, and so on.
     */
    static void verify(NvmeDrive drive, int queues, int commands) throws Exception {
        var blocks = (int) Math.min(drive.namespaces().getFirst().blocks(), MAX_TOTAL_BLOCKS);
        try (var executor = Executors.newFixedThreadPool(queues)) {
            var tasks = new ArrayList<Callable<Integer>>();
            for (var i = 0; i < queues; i++) {
                var depth = MIN_DEPTH << i;
                var first = i * (blocks / queues);
                tasks.add(() ->
                        new FabricVerifier(drive, depth, first, blocks / queues).run(commands));
            }
            for (var result : executor.invokeAll(tasks)) {
                assertThat(result.get()).isEqualTo(commands);
            }
        }
    }

    /** Executes some commands, and returns their number. */
    int run(int commands) throws FabricException {
        var bufferBytes = (long) maxBlocks * blockBytes;
        try (var queue = drive.newQueue(depth);
                var memory = drive.newMemory(depth * bufferBytes)) {
            var pending = new Transfer[depth];
            var submitted = Math.min(depth, commands);
            for (var buffer = 0; buffer < submitted; buffer++) {
                pending[buffer] = submit(queue, memory, buffer);
            }
            for (var done = 1; done <= commands; done++) {
                complete(queue);
                var buffer = (int) queue.context();
                finish(pending[buffer], memory.segment().asSlice(buffer * bufferBytes));
                completed = done;
                if (submitted < commands) {
                    submitted++;
                    pending[buffer] = submit(queue, memory, buffer);
                }
            }
        }
        return completed;
    }

    private Transfer submit(NvmeQueue queue, DmaMemory memory, int buffer) {
        var transfer = choose();
        var namespace = drive.namespaces().getFirst();
        var offset = (long) buffer * maxBlocks * blockBytes;
        var block = first + transfer.block();
        if (transfer.isWrite()) {
            writes++;
            for (var i = 0; i < transfer.blocks(); i++) {
                fill(memory.segment().asSlice(offset + (long) i * blockBytes), block + i);
                expected[transfer.block() + i] = writes;
            }
        }
        var isAccepted =
                transfer.isWrite()
                        ? queue.write(namespace, block, transfer.blocks(), memory, offset, buffer)
                        : queue.read(namespace, block, transfer.blocks(), memory, offset, buffer);
        assertThat(isAccepted).isTrue();
        return transfer;
    }

    /** Chooses blocks that no pending command uses: often a few, sometimes the largest number. */
    private Transfer choose() {
        var bits = 1 + Integer.numberOfTrailingZeros(Integer.highestOneBit(maxBlocks));
        var limit = 1 << Math.min(random.nextInt(bits), random.nextInt(bits));
        var length = limit - random.nextInt((limit + 1) / 2);
        for (var attempt = 1; ; attempt++) {
            var block = random.nextInt(expected.length - length + 1);
            var busy = busyBlocks.nextSetBit(block);
            if (busy < 0 || busy >= block + length) {
                busyBlocks.set(block, block + length);
                return new Transfer(random.nextInt(3) == 0, block, length);
            }
            if (attempt % ATTEMPTS_PER_SIZE == 0) {
                length = (length + 1) / 2;
            }
        }
    }

    /** Fills a block with its number and the number of the write. */
    private void fill(MemorySegment data, long block) {
        for (var i = 0; i < blockBytes / 16; i++) {
            data.setAtIndex(JAVA_LONG, 2L * i, block);
            data.setAtIndex(JAVA_LONG, 2L * i + 1, writes);
        }
    }

    private void finish(Transfer transfer, MemorySegment data) {
        busyBlocks.clear(transfer.block(), transfer.block() + transfer.blocks());
        for (var i = 0; i < transfer.blocks() && !transfer.isWrite(); i++) {
            var number = expected[transfer.block() + i];
            if (number != 0) {
                var block = data.asSlice((long) i * blockBytes, blockBytes);
                assertThat(block.getAtIndex(JAVA_LONG, 0)).isEqualTo(first + transfer.block() + i);
                assertThat(block.getAtIndex(JAVA_LONG, 1)).isEqualTo(number);
                // the rest of the block repeats its first 16 bytes
                assertThat(block.asSlice(16).mismatch(block.asSlice(0, blockBytes - 16L)))
                        .isEqualTo(-1);
            }
        }
    }

    private static void complete(NvmeQueue queue) throws FabricException {
        queue.await(TIMEOUT);
        if (!queue.succeeded()) {
            throw queue.failure();
        }
    }
}
