package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.BitSet;
import java.util.Random;
import org.jrdma.ffi.FabricException;

/**
 * Reads and writes random pages of a range of blocks through one queue, and verifies the contents
 * of each read. A page of canaries precedes and follows each buffer.
 */
final class VerifiedTransfers {

    static final int PAGE_BYTES = 4096;
    private static final int LONGS = PAGE_BYTES / Long.BYTES;
    private static final byte CANARY = 0x5a;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final NvmeQueue queue;
    private final NvmeNamespace namespace;
    private final DmaMemory memory;
    private final int firstPage;
    private final long[] versions;
    private final BitSet busyPages = new BitSet();
    private final BitSet freeBuffers = new BitSet();
    private final int[] pageOfBuffer;
    private final boolean[] isWrite;
    private final Random random;

    /**
     * Creates a queue and its buffers.
     *
     * @param firstPage the first page of 4,096 bytes of the first namespace
     * @param pages the number of pages, which no other queue uses, and which contain zeroes
     */
    VerifiedTransfers(NvmeDrive drive, int depth, int firstPage, int pages, long seed)
            throws FabricException {
        this.namespace = drive.namespaces().getFirst();
        this.queue = drive.newQueue(depth);
        this.memory = drive.newMemory((2L * depth + 1) * PAGE_BYTES);
        this.firstPage = firstPage;
        this.versions = new long[pages];
        this.pageOfBuffer = new int[depth];
        this.isWrite = new boolean[depth];
        this.random = new Random(seed);
        freeBuffers.set(0, depth);
        memory.segment().fill(CANARY);
    }

    /** Executes operations, and then verifies the canaries. */
    void run(int operations) throws FabricException {
        var submitted = 0;
        var completed = 0;
        while (completed < operations) {
            while (submitted < operations && !freeBuffers.isEmpty()) {
                submit();
                submitted++;
            }
            queue.await(TIMEOUT);
            complete();
            completed++;
        }
        verifyCanaries();
    }

    private static long offset(int buffer) {
        return (2L * buffer + 1) * PAGE_BYTES;
    }

    private void submit() {
        var page = random.nextInt(versions.length);
        while (busyPages.get(page)) {
            page = (page + 1) % versions.length;
        }
        var buffer = freeBuffers.nextSetBit(0);
        var blocks = PAGE_BYTES >> namespace.blockShift();
        var block = (long) (firstPage + page) * blocks;
        isWrite[buffer] = random.nextBoolean();
        boolean accepted;
        if (isWrite[buffer]) {
            versions[page] = random.nextLong() | 1;
            for (var i = 0; i < LONGS; i++) {
                memory.segment().set(JAVA_LONG, offset(buffer) + 8L * i, versions[page] + i);
            }
            accepted = queue.write(namespace, block, blocks, memory, offset(buffer), buffer);
        } else {
            accepted = queue.read(namespace, block, blocks, memory, offset(buffer), buffer);
        }
        if (!accepted) {
            throw new AssertionError("The queue is full");
        }
        pageOfBuffer[buffer] = page;
        busyPages.set(page);
        freeBuffers.clear(buffer);
    }

    private void complete() throws FabricException {
        if (!queue.succeeded()) {
            throw queue.failure();
        }
        var buffer = (int) queue.context();
        var page = pageOfBuffer[buffer];
        for (var i = 0; i < LONGS; i++) {
            var expected = versions[page] == 0 ? 0 : versions[page] + i;
            var found = memory.segment().get(JAVA_LONG, offset(buffer) + 8L * i);
            if (found != expected) {
                throw new AssertionError(
                        "%s of page %d, long %d: %x instead of %x"
                                .formatted(
                                        isWrite[buffer] ? "Write" : "Read",
                                        page,
                                        i,
                                        found,
                                        expected));
            }
        }
        busyPages.clear(page);
        freeBuffers.set(buffer);
    }

    private void verifyCanaries() {
        for (var page = 0L; page < memory.segment().byteSize(); page += 2 * PAGE_BYTES) {
            verifyCanaries(memory.segment().asSlice(page, PAGE_BYTES));
        }
    }

    private static void verifyCanaries(MemorySegment page) {
        for (var i = 0; i < PAGE_BYTES; i++) {
            if (page.get(JAVA_BYTE, i) != CANARY) {
                throw new AssertionError("The canary at %d has changed".formatted(i));
            }
        }
    }
}
