package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.jrdma.ffi.FabricException;

/** Writes blocks of a range with the number of the write, and reads and compares them. */
final class FabricVerifier {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int MAX_TOTAL_BLOCKS = 16_384;
    private static final int DEPTH = 4;
    private static final int MAX_BLOCKS = 32;

    private final NvmeDrive drive;
    private final int blockBytes;
    private final int first;
    private final int blocks;

    /** The number of the last acknowledged write of each block. */
    private final long[] expected;

    private final Random random;
    private volatile int rounds;

    FabricVerifier(NvmeDrive drive, int first, int blocks) {
        this.drive = drive;
        this.blockBytes = 1 << drive.namespaces().getFirst().blockShift();
        this.first = first;
        this.blocks = blocks;
        this.expected = new long[blocks];
        this.random = new Random(first);
    }

    int rounds() {
        return rounds;
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

    /** Verifies some rounds on each of several queues at the same time. */
    static void verify(NvmeDrive drive, int queues, int rounds) throws Exception {
        var blocks = (int) Math.min(drive.namespaces().getFirst().blocks(), MAX_TOTAL_BLOCKS);
        try (var executor = Executors.newFixedThreadPool(queues)) {
            var tasks = new ArrayList<Callable<Integer>>();
            for (var i = 0; i < queues; i++) {
                var first = i * (blocks / queues);
                tasks.add(() -> new FabricVerifier(drive, first, blocks / queues).run(rounds));
            }
            for (var result : executor.invokeAll(tasks)) {
                assertThat(result.get()).isEqualTo(rounds);
            }
        }
    }

    /** Runs some rounds of a write and a read, and returns their number. */
    int run(int count) throws FabricException {
        try (var queue = drive.newQueue(DEPTH);
                var memory = drive.newMemory(2L * MAX_BLOCKS * blockBytes)) {
            var namespace = drive.namespaces().getFirst();
            for (var round = 1; round <= count; round++) {
                var length = 1 + random.nextInt(MAX_BLOCKS);
                var block = random.nextInt(blocks - length);
                for (var i = 0; i < length; i++) {
                    fill(memory, i, first + block + i, round);
                    expected[block + i] = round;
                }
                assertThat(queue.write(namespace, first + block, length, memory, 0, 1)).isTrue();
                complete(queue);
                check(queue, namespace, memory, random.nextInt(blocks - MAX_BLOCKS));
                check(queue, namespace, memory, block);
                rounds = round;
            }
        }
        return rounds;
    }

    private void fill(DmaMemory memory, int index, long block, long value) {
        var data = memory.segment().asSlice((long) index * blockBytes, blockBytes);
        for (var i = 0; i < blockBytes / 16; i++) {
            data.setAtIndex(JAVA_LONG, 2L * i, block);
            data.setAtIndex(JAVA_LONG, 2L * i + 1, value);
        }
    }

    private void check(NvmeQueue queue, NvmeNamespace namespace, DmaMemory memory, int block)
            throws FabricException {
        var offset = (long) MAX_BLOCKS * blockBytes;
        var length = Math.min(MAX_BLOCKS, blocks - block);
        assertThat(queue.read(namespace, first + block, length, memory, offset, 2)).isTrue();
        complete(queue);
        for (var i = 0; i < length; i++) {
            if (expected[block + i] != 0) {
                var data = memory.segment().asSlice(offset + (long) i * blockBytes, blockBytes);
                assertThat(data.getAtIndex(JAVA_LONG, 0)).isEqualTo(first + block + i);
                assertThat(data.getAtIndex(JAVA_LONG, blockBytes / 8 - 1))
                        .isEqualTo(expected[block + i]);
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
