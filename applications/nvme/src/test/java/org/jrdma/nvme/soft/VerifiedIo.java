package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.TestBorrower.Memory;
import org.jspecify.annotations.Nullable;

/** A thread that writes and reads random blocks of namespace 1, and verifies their contents. */
final class VerifiedIo implements AutoCloseable {

    private static final int BLOCKS_PER_COMMAND = 8;
    private static final int SLOTS = Harness.BLOCKS / BLOCKS_PER_COMMAND;

    /** The size of memory that no command of this thread uses. */
    static final int CANARY_BYTES = 256 << 10;

    private final TestQueue queue;
    private final Memory data;
    private final Memory canary;
    private final long[] versions = new long[SLOTS];
    private final Random random;
    private final Thread thread;
    private final CountDownLatch started = new CountDownLatch(1);
    private volatile boolean stopped;
    private final AtomicLong operations = new AtomicLong();
    private volatile @Nullable Throwable failure;

    VerifiedIo(TestQueue queue, TestBorrower borrower, long seed) {
        this.queue = queue;
        this.data = borrower.allocate(4096);
        this.canary = borrower.allocate(CANARY_BYTES);
        canary.segment().fill((byte) 0x5a);
        this.random = new Random(seed);
        this.thread = Thread.ofPlatform().name("verified-io").start(this::run);
    }

    void awaitStart() throws InterruptedException {
        started.await();
    }

    /** Waits until the thread has completed a hundred more operations, or has failed. */
    void awaitProgress() {
        var target = operations.get() + 100;
        Harness.await(() -> operations.get() >= target || failure != null);
    }

    /** Returns the address of memory that no command uses. */
    long canary() {
        return canary.address();
    }

    private void run() {
        try {
            while (!stopped) {
                transfer(random.nextInt(SLOTS), random.nextBoolean());
                var _ = operations.incrementAndGet();
                started.countDown();
            }
        } catch (Throwable e) {
            failure = e;
            started.countDown();
        }
    }

    private void transfer(int slot, boolean isWrite) {
        if (isWrite) {
            versions[slot] = random.nextLong();
            for (var i = 0; i < 512; i++) {
                data.segment().setAtIndex(JAVA_LONG, i, versions[slot] + i);
            }
        }
        var command =
                Command.blocks(
                                isWrite ? IoOpcode.WRITE : IoOpcode.READ,
                                1,
                                (long) slot * BLOCKS_PER_COMMAND,
                                BLOCKS_PER_COMMAND)
                        .withData(data.address(), 0);
        assertThat(queue.status(command)).isEqualTo(Status.SUCCESS);
        if (!isWrite) {
            for (var i = 0; i < 512; i++) {
                var expected = versions[slot] == 0 ? 0 : versions[slot] + i;
                if (data.segment().getAtIndex(JAVA_LONG, i) != expected) {
                    throw new AssertionError("Slot %d has other contents".formatted(slot));
                }
            }
        }
    }

    /** Stops the thread, and checks that all operations succeeded and the canary is untouched. */
    @Override
    public void close() {
        stopped = true;
        Harness.await(() -> !thread.isAlive());
        assertThat(failure).isNull();
        var expected = Arena.ofAuto().allocate(CANARY_BYTES).fill((byte) 0x5a);
        assertThat(canary.segment().mismatch(expected)).isEqualTo(-1);
    }
}
