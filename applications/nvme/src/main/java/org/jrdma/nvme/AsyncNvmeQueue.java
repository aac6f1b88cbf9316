package org.jrdma.nvme;

import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.PollingBudget;
import org.jrdma.nvme.model.IoOpcode;
import org.jspecify.annotations.Nullable;

/**
 * An I/O queue with asynchronous operations. Each operation returns a {@link NvmeOperation}, to
 * wait for or to take as a future.
 *
 * <pre>{@code
 * var first = queue.read(namespace, 0, 8, memory, 0);
 * var second = queue.read(namespace, 8, 8, memory, 4096);
 * first.await(Duration.ofSeconds(1));
 * second.await(Duration.ofSeconds(1));
 * }</pre>
 *
 * <p>Owned by its {@link NvmeDrive}. Safe for use by multiple threads, including virtual threads.
 * If the queue is full, an operation waits for a free slot for up to {@link
 * NvmeOptions#ioTimeout()}. A thread of the queue submits the commands and polls for their
 * completions. It uses a processor while commands are pending, and sleeps otherwise. A failure of
 * the controller fails all operations; close the queue then.
 */
public final class AsyncNvmeQueue implements AutoCloseable {

    private final NvmeQueue queue;
    private final NvmeOptions options;
    private final Semaphore slots;
    private final Queue<Submission> submissions = new ConcurrentLinkedQueue<>();

    /** The submitted commands by their contexts. Used by the thread of this queue. */
    private final Map<Long, NvmeOperation> pending = new HashMap<>();

    private final Thread thread;
    private long nextContext;

    /** Set when the thread ends. Operations that find it fail themselves. */
    private volatile @Nullable Throwable failure;

    /** Submits a command to the polled queue. */
    @FunctionalInterface
    private interface PolledCall {
        boolean submit(long context);
    }

    /** A command that was not submitted yet, and the memory that is held for it. */
    private record Submission(
            NvmeOperation operation, PolledCall call, @Nullable DmaMemory memory) {

        void releaseMemory() {
            if (memory != null) {
                memory.release();
            }
        }
    }

    AsyncNvmeQueue(NvmeQueue queue, NvmeOptions options) {
        this.queue = queue;
        this.options = options;
        this.slots = new Semaphore(queue.depth());
        this.thread = Thread.ofPlatform().daemon().name("nvme-queue").unstarted(this::run);
    }

    /** Starts the thread, which ends when the queue is closed or the controller fails. */
    AsyncNvmeQueue start() {
        queue.onClose(this::wakeUp);
        thread.start();
        return this;
    }

    /**
     * Reads blocks.
     *
     * @param block the first block
     * @param blocks the number of blocks
     * @param target the memory for the data
     * @param offset the offset in the memory, a multiple of 4
     * @throws FabricException if the queue remains full, or the thread is interrupted
     * @throws IndexOutOfBoundsException if the data do not fit in the memory
     * @throws IllegalArgumentException if the number of blocks or the offset is invalid, or the
     *     memory belongs to another drive
     * @throws IllegalStateException if the memory is closed
     */
    public NvmeOperation read(
            NvmeNamespace namespace, long block, int blocks, DmaMemory target, long offset)
            throws FabricException {
        var _ = queue.checkTransfer(namespace, blocks, target, offset);
        return submit(
                context ->
                        queue.transfer(
                                IoOpcode.READ,
                                namespace,
                                block,
                                blocks,
                                target,
                                offset,
                                true,
                                context),
                target);
    }

    /** Writes blocks. The parameters and exceptions are those of {@link #read}. */
    public NvmeOperation write(
            NvmeNamespace namespace, long block, int blocks, DmaMemory source, long offset)
            throws FabricException {
        var _ = queue.checkTransfer(namespace, blocks, source, offset);
        return submit(
                context ->
                        queue.transfer(
                                IoOpcode.WRITE,
                                namespace,
                                block,
                                blocks,
                                source,
                                offset,
                                true,
                                context),
                source);
    }

    /**
     * Makes the completed writes of the namespace durable.
     *
     * @throws FabricException if the queue remains full, or the thread is interrupted
     */
    public NvmeOperation flush(NvmeNamespace namespace) throws FabricException {
        return submit(context -> queue.flush(namespace, context), null);
    }

    private NvmeOperation submit(PolledCall call, @Nullable DmaMemory memory)
            throws FabricException {
        if (memory != null) {
            memory.hold();
        }
        var submission = new Submission(new NvmeOperation(this), call, memory);
        try {
            awaitSlot();
        } catch (Throwable e) {
            submission.releaseMemory();
            throw e;
        }
        submissions.add(submission);
        wakeUp();
        var ended = failure;
        if (ended != null) {
            failSubmissions(ended);
        }
        return submission.operation();
    }

    private void wakeUp() {
        LockSupport.unpark(thread);
        queue.endWait();
    }

    private void awaitSlot() throws FabricException {
        var deadline = Deadline.after(options.ioTimeout());
        try {
            if (!slots.tryAcquire(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
                throw deadline.missed("%s had no free slot".formatted(queue));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NvmeException("Interrupted while waiting for a slot of %s".formatted(queue));
        }
    }

    private void run() {
        try {
            for (var idlePolls = 0; ; ) {
                var hasSubmitted = submitAll();
                if (completeAll() || hasSubmitted) {
                    idlePolls = 0;
                } else if (pending.isEmpty()) {
                    LockSupport.park(this);
                } else if (idlePolls < NvmeQueue.SPINS) {
                    PollingBudget.pause(idlePolls);
                    idlePolls++;
                } else {
                    queue.pause(Long.MAX_VALUE);
                }
            }
        } catch (Throwable e) { // the queue was closed, or the controller has failed
            failure = e;
            pending.values().forEach(operation -> fail(operation, e));
            failSubmissions(e);
        }
    }

    private boolean submitAll() {
        var hasSubmitted = false;
        for (var next = submissions.poll(); next != null; next = submissions.poll()) {
            hasSubmitted = true;
            nextContext++;
            pending.put(nextContext, next.operation());
            try {
                var _ = next.call().submit(nextContext); // a slot is free
            } catch (Throwable e) { // the queue was closed
                next.releaseMemory();
                throw e;
            }
        }
        return hasSubmitted;
    }

    private boolean completeAll() throws FabricException {
        var hasCompleted = false;
        while (queue.next()) {
            hasCompleted = true;
            var operation = pending.remove(queue.context());
            slots.release();
            if (operation == null) {
                throw new IllegalStateException("Unknown context " + queue.context());
            } else if (queue.succeeded()) {
                operation.succeed();
            } else {
                operation.fail(queue.failure());
            }
        }
        return hasCompleted;
    }

    private void failSubmissions(Throwable cause) {
        for (var next = submissions.poll(); next != null; next = submissions.poll()) {
            next.releaseMemory();
            fail(next.operation(), cause);
        }
    }

    private void fail(NvmeOperation operation, Throwable cause) {
        slots.release();
        operation.fail(cause);
    }

    /** Returns the number of commands that can be pending. */
    public int depth() {
        return queue.depth();
    }

    /**
     * Returns true if all operations fail, because the queue was closed or its controller failed.
     */
    public boolean hasFailed() {
        return failure != null;
    }

    /**
     * Deletes the queue, and fails its pending operations, whose commands may have been executed.
     * The memory of pending commands is handled as {@link NvmeQueue#close()} specifies.
     */
    @Override
    public void close() {
        queue.close();
    }

    /** Returns the name of the queue for messages. */
    @Override
    public String toString() {
        return queue.toString();
    }
}
