package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads, writes and failures of I/O queues. */
@Timeout(60)
class NvmeQueueTest {

    private static final Duration TIMEOUT = ofSeconds(20);
    private static final int BLOCK = DriveHarness.BLOCK_BYTES;

    private final DriveHarness harness = new DriveHarness();
    private NvmeDrive drive;
    private NvmeNamespace namespace;

    @BeforeEach
    void open() throws FabricException {
        drive = harness.open();
        namespace = drive.namespaces().getFirst();
    }

    @AfterEach
    void close() {
        drive.close();
        harness.close();
    }

    private static void finish(NvmeQueue queue) throws FabricException {
        queue.await(TIMEOUT);
        if (!queue.succeeded()) {
            throw queue.failure();
        }
    }

    private static byte[] fill(MemorySegment memory, long seed) {
        var bytes = new byte[(int) memory.byteSize()];
        new Random(seed).nextBytes(bytes);
        MemorySegment.copy(bytes, 0, memory, JAVA_BYTE, 0, bytes.length);
        return bytes;
    }

    @ParameterizedTest
    @CsvSource({
        "1, 0",
        "1, 4092",
        "8, 0",
        "8, 4",
        "9, 0",
        "16, 0",
        "17, 8",
        "64, 512",
        "1024, 0",
        "1024, 4088",
        "1000, 12"
    })
    void shouldTransferDataOfEachSizeAndOffset(int blocks, int offset) throws Exception {
        try (var queue = drive.newQueue(4);
                var memory = drive.newMemory(1 << 20);
                var target = drive.newMemory(1 << 20)) {
            var bytes = fill(memory.segment().asSlice(offset, (long) blocks * BLOCK), blocks);
            assertThat(queue.write(namespace, 77, blocks, memory, offset, 1)).isTrue();
            finish(queue);
            assertThat(queue.context()).isEqualTo(1);
            assertThat(queue.read(namespace, 77, blocks, target, 16, 2)).isTrue();
            finish(queue);
            assertThat(queue.context()).isEqualTo(2);
            assertThat(target.segment().asSlice(16, bytes.length).toArray(JAVA_BYTE))
                    .isEqualTo(bytes);
            assertThat(target.segment().get(JAVA_LONG, 0)).isZero();
            assertThat(target.segment().get(JAVA_BYTE, 16L + bytes.length)).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 32})
    void shouldKeepSeveralCommandsPending(int depth) throws Exception {
        try (var queue = drive.newQueue(depth);
                var memory = drive.newMemory(4096L * depth)) {
            for (var round = 0; round < 100; round++) {
                for (var i = 0; i < depth; i++) {
                    memory.segment().set(JAVA_LONG, 4096L * i, round * 1000L + i);
                    assertThat(queue.write(namespace, 8L * i, 8, memory, 4096L * i, i)).isTrue();
                }
                assertThat(queue.pending()).isEqualTo(depth);
                assertThat(queue.flush(namespace, 99)).as("the queue is full").isFalse();
                var seen = 0L;
                for (var i = 0; i < depth; i++) {
                    finish(queue);
                    seen += queue.context();
                }
                assertThat(seen).isEqualTo(depth * (depth - 1L) / 2);
                assertThat(queue.pending()).isZero();
                assertThat(queue.next()).isFalse();
            }
            for (var i = 0; i < depth; i++) {
                assertThat(queue.read(namespace, 8L * i, 1, memory, 0, 0)).isTrue();
                finish(queue);
                assertThat(memory.segment().get(JAVA_LONG, 0)).isEqualTo(99_000L + i);
            }
        }
    }

    @Test
    void shouldVerifyRandomReadsAndWritesOfTwoThreadsOnTwoQueues() throws Exception {
        try (var threads = Executors.newFixedThreadPool(2)) {
            var results = new ArrayList<Future<?>>();
            for (var thread = 0; thread < 2; thread++) {
                var first = thread * DriveHarness.BLOCKS / 2;
                results.add(threads.submit(() -> verify(first, DriveHarness.BLOCKS / 2 / 64)));
            }
            for (var result : results) {
                result.get(50, TimeUnit.SECONDS);
            }
        }
        assertThat(drive.smartLog().readCommands()).isPositive();
    }

    /** Writes and reads random units of 64 blocks at a depth of 8, and verifies their contents. */
    private Void verify(long firstBlock, int units) throws Exception {
        var random = new Random(firstBlock);
        var versions = new long[units];
        var written = new long[8];
        var busy = new int[8];
        try (var queue = drive.newQueue(8);
                var memory = drive.newMemory(8 * 64 * BLOCK)) {
            var idle = new ArrayList<Integer>();
            for (var slot = 0; slot < 8; slot++) {
                idle.add(slot);
            }
            for (var done = 0; done < 4000; ) {
                while (!idle.isEmpty() && done + queue.pending() < 4000) {
                    int slot = idle.removeLast();
                    int unit = random.nextInt(units);
                    while (isBusy(busy, idle, unit, slot)) {
                        unit = random.nextInt(units);
                    }
                    busy[slot] = unit;
                    start(queue, memory, random, firstBlock, unit, slot, written);
                }
                finish(queue);
                done++;
                var slot = (int) queue.context();
                check(memory, versions, written, busy[slot], slot);
                idle.add(slot);
            }
        }
        return null;
    }

    /** Returns true if another pending command uses the unit. */
    private static boolean isBusy(int[] busy, List<Integer> idle, int unit, int slot) {
        for (var other = 0; other < busy.length; other++) {
            if (other != slot && busy[other] == unit && !idle.contains(other)) {
                return true;
            }
        }
        return false;
    }

    private void start(
            NvmeQueue queue,
            DmaMemory memory,
            Random random,
            long firstBlock,
            int unit,
            int slot,
            long[] written) {
        var offset = slot * 64L * BLOCK;
        var block = firstBlock + unit * 64L;
        written[slot] = random.nextBoolean() ? random.nextLong() | 1 : 0;
        if (written[slot] != 0) {
            for (var i = 0L; i < 64L * BLOCK; i += 8) {
                memory.segment().set(JAVA_LONG, offset + i, written[slot] + i);
            }
            assertThat(queue.write(namespace, block, 64, memory, offset, slot)).isTrue();
        } else {
            assertThat(queue.read(namespace, block, 64, memory, offset, slot)).isTrue();
        }
    }

    private static void check(
            DmaMemory memory, long[] versions, long[] written, int unit, int slot) {
        if (written[slot] != 0) {
            versions[unit] = written[slot];
            return;
        }
        for (var i = 0L; i < 64L * BLOCK; i += 8) {
            var expected = versions[unit] == 0 ? 0 : versions[unit] + i;
            if (memory.segment().get(JAVA_LONG, slot * 64L * BLOCK + i) != expected) {
                throw new AssertionError("Unit %d has other contents".formatted(unit));
            }
        }
    }

    @Test
    void shouldFlushAndSetBlocksToZero() throws Exception {
        try (var queue = drive.newQueue(2);
                var memory = drive.newMemory(4096)) {
            memory.segment().fill((byte) 3);
            assertThat(queue.write(namespace, 0, 8, memory, 0, 0)).isTrue();
            finish(queue);
            assertThat(queue.flush(namespace, 1)).isTrue();
            finish(queue);
            assertThat(queue.writeZeroes(namespace, 1, 2, 2)).isTrue();
            finish(queue);
            assertThat(queue.read(namespace, 0, 4, memory, 0, 3)).isTrue();
            finish(queue);
            assertThat(memory.segment().get(JAVA_BYTE, 511)).isEqualTo((byte) 3);
            assertThat(memory.segment().get(JAVA_BYTE, 512)).isZero();
            assertThat(memory.segment().get(JAVA_BYTE, 1535)).isZero();
            assertThat(memory.segment().get(JAVA_BYTE, 1536)).isEqualTo((byte) 3);
        }
    }

    @Test
    void shouldDescribeFailuresInWords() throws Exception {
        try (var queue = drive.newQueue(2);
                var memory = drive.newMemory(4096)) {
            assertThat(queue.read(namespace, DriveHarness.BLOCKS - 1L, 2, memory, 0, 5)).isTrue();
            queue.await(TIMEOUT);
            assertThat(queue.succeeded()).isFalse();
            assertThat(queue.context()).isEqualTo(5);
            assertThat(queue.failure())
                    .hasMessage(
                            "read of 2 blocks from block 16383 of namespace 1 failed on I/O queue 1 of the test controller: blocks beyond the end of the namespace (0x080).");
            assertThat(queue.failure().status()).contains(Status.LBA_OUT_OF_RANGE);
            assertThat(queue.flush(new NvmeNamespace(9, 1, 9), 0)).isTrue();
            queue.await(TIMEOUT);
            assertThat(queue.failure())
                    .hasMessageStartingWith("flush of namespace 9 failed on I/O queue 1");
            assertThat(queue.flush(namespace, 0)).isTrue();
            finish(queue);
            assertThatThrownBy(queue::failure).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldRejectInvalidArguments() throws Exception {
        try (var queue = drive.newQueue(2);
                var memory = drive.newMemory(4096);
                var other = new DriveHarness();
                var otherDrive = other.open();
                var foreign = otherDrive.newMemory(4096)) {
            for (var blocks : new int[] {0, -1, 1025}) {
                assertThatThrownBy(() -> queue.read(namespace, 0, blocks, memory, 0, 0))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("1 to 1024 blocks");
            }
            assertThatThrownBy(() -> queue.writeZeroes(namespace, 0, 65_537, 0))
                    .isInstanceOf(IllegalArgumentException.class);
            for (var offset : new long[] {-4, 3588, 4096, Long.MAX_VALUE, Long.MIN_VALUE}) {
                assertThatThrownBy(() -> queue.read(namespace, 0, 1, memory, offset, 0))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            assertThatThrownBy(() -> queue.read(namespace, 0, 1, memory, 2, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("multiple of 4");
            assertThatThrownBy(() -> queue.read(namespace, 0, 1, foreign, 0, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("must belong");
            assertThatThrownBy(queue::context).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> queue.await(TIMEOUT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("No command is pending");
            assertThat(queue.pending()).isZero();
        }
    }

    @Test
    void shouldBeConfinedToOneThread() throws Exception {
        try (var queue = drive.newQueue(2);
                var threads = Executors.newSingleThreadExecutor()) {
            assertThat(queue.next()).isFalse();
            assertThatThrownBy(() -> threads.submit(queue::next).get())
                    .hasCauseInstanceOf(WrongThreadException.class);
        }
    }

    @Test
    void shouldAcceptOneOfTwoThreadsThatUseItFirstAtTheSameTime() throws Exception {
        try (var threads = Executors.newFixedThreadPool(2)) {
            for (var round = 0; round < 200; round++) {
                try (var queue = drive.newQueue(1)) {
                    var start = new CyclicBarrier(2);
                    var results = new ArrayList<Future<Boolean>>();
                    for (var thread = 0; thread < 2; thread++) {
                        results.add(threads.submit(() -> isAccepted(queue, start)));
                    }
                    assertThat(results.get(0).get()).isNotEqualTo(results.get(1).get());
                }
            }
        }
    }

    private static boolean isAccepted(NvmeQueue queue, CyclicBarrier start) throws Exception {
        var _ = start.await();
        try {
            return !queue.next();
        } catch (WrongThreadException _) {
            return false;
        }
    }

    @Test
    void shouldReturnTheCompletionOfACommandWhoseMemoryCannotBeFreed() throws Exception {
        try (var queue = drive.newQueue(1)) {
            harness.failReleases();
            var memory = drive.newMemory(4096);
            assertThat(queue.read(namespace, 0, 1, memory, 0, 7)).isTrue();
            memory.close();
            finish(queue);
            assertThat(queue.context()).isEqualTo(7);
            assertThat(queue.pending()).isZero();
            assertThat(queue.flush(namespace, 8)).isTrue();
            finish(queue);
            assertThat(queue.context()).isEqualTo(8);
        }
        drive.close();
        assertThat(harness.allocated()).isEqualTo(1);
        harness.close();
        assertThat(harness.allocated()).isZero();
    }

    @Test
    void shouldKeepClosedMemoryUntilThePendingCommandHasCompleted() throws Exception {
        try (var queue = drive.newQueue(4)) {
            var memory = drive.newMemory(4096);
            assertThat(queue.read(namespace, 0, 8, memory, 0, 0)).isTrue();
            memory.close();
            assertThat(memory.segment().get(JAVA_BYTE, 0)).isZero();
            assertThatThrownBy(() -> queue.read(namespace, 0, 8, memory, 0, 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            finish(queue);
            assertThatThrownBy(() -> memory.segment().get(JAVA_BYTE, 0))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(queue.flush(namespace, 1)).isTrue();
            finish(queue);
        }
        assertThat(harness.host().refusedAccesses()).isZero();
    }

    @Test
    void shouldFreeTheMemoryOfPendingCommandsWhenTheQueueIsClosed() throws Exception {
        var queue = drive.newQueue(4);
        var memory = drive.newMemory(4096);
        assertThat(queue.read(namespace, 0, 8, memory, 0, 0)).isTrue();
        memory.close();
        queue.close();
        assertThat(harness.allocated()).isEqualTo(1);
        assertThatThrownBy(queue::next)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("I/O queue 1 of the test controller is closed");
        assertThatThrownBy(() -> queue.flush(namespace, 0))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldReportATimeout() throws Exception {
        drive.close();
        drive =
                Nvme.open(
                        harness,
                        NvmeOptions.DEFAULTS.ioTimeout(ofMillis(100)).adminTimeout(ofMillis(100)));
        var queue = drive.newQueue(4);
        harness.stopController();
        assertThat(queue.flush(namespace, 0)).isTrue();
        assertThatThrownBy(() -> queue.await(ofMillis(50)))
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessage("I/O queue 1 of the test controller completed no command within 0.05s");
        assertThatThrownBy(
                        () -> {
                            while (!queue.next()) {
                                Thread.onSpinWait();
                            }
                        })
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessage(
                        "I/O queue 1 of the test controller completed none of 1 pending commands within 0.1s");
        harness.resumeController();
        queue.await(TIMEOUT);
    }

    @ParameterizedTest
    @ValueSource(
            ints = {MappedRegisters.READY | MappedRegisters.FATAL, 0, MappedRegisters.UNREACHABLE})
    void shouldReportAControllerThatFailed(int status) throws Exception {
        var queue = drive.newQueue(4);
        harness.stopController();
        harness.registers().write(MappedRegisters.STATUS, status);
        assertThat(queue.flush(namespace, 0)).isTrue();
        assertThatThrownBy(() -> queue.await(TIMEOUT))
                .isInstanceOf(NvmeException.class)
                .hasMessageMatching(".*(fatal error|stopped by another program|unreachable).*");
        assertThatThrownBy(
                        () -> {
                            while (!queue.next()) {
                                Thread.onSpinWait();
                            }
                        })
                .isInstanceOf(NvmeException.class);
        harness.registers().write(MappedRegisters.STATUS, MappedRegisters.READY);
        harness.resumeController();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 4, 0xffff})
    void shouldRejectACompletionOfAnUnknownCommand(int commandId) throws Exception {
        var queue = drive.newQueue(4);
        var memory = harness.allocations.getLast().memory();
        new Completion(0, 0, 1, commandId, 1, 0).encode(memory, 4096);
        assertThatThrownBy(queue::next)
                .isInstanceOf(NvmeException.class)
                .hasMessageContaining("completed the unknown command " + commandId);
        assertThat(queue.pending()).isZero();
    }

    @Test
    void shouldReportAnInterruptOfTheWait() throws Exception {
        try (var queue = drive.newQueue(4)) {
            harness.stopController();
            assertThat(queue.flush(namespace, 0)).isTrue();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> queue.await(TIMEOUT))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("Interrupted");
            assertThat(Thread.interrupted()).isTrue();
            harness.resumeController();
            finish(queue);
        }
    }
}
