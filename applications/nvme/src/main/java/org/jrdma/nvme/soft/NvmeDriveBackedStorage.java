package org.jrdma.nvme.soft;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.AsyncNvmeQueue;
import org.jrdma.nvme.DmaMemory;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeException;
import org.jrdma.nvme.NvmeNamespace;
import org.jrdma.nvme.model.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The blocks of a namespace of another drive. Each command is executed by the calling thread. */
final class NvmeDriveBackedStorage extends BlockStorage {

    private static final Logger LOG = LoggerFactory.getLogger(NvmeDriveBackedStorage.class);

    /** The number of commands of all controllers that the drive executes at the same time. */
    private static final int DEPTH = 16;

    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    /** The time after an attempt to replace a failed queue in which commands fail at once. */
    private static final Duration REOPEN_PAUSE = Duration.ofSeconds(2);

    private final NvmeDrive drive;
    private final NvmeNamespace namespace;
    private final int bufferBytes;

    /** The number of buffers that commands can take. */
    private final Semaphore permits = new Semaphore(DEPTH);

    /** The buffers that no command uses. A buffer is missing if its replacement failed. */
    private final Queue<DmaMemory> buffers = new ConcurrentLinkedQueue<>();

    private volatile AsyncNvmeQueue queue;
    private Deadline nextReopening = Deadline.after(Duration.ZERO);
    private boolean closed;
    private boolean failureLogged;

    private NvmeDriveBackedStorage(
            NvmeDrive drive, NvmeNamespace namespace, AsyncNvmeQueue queue, int bufferBytes) {
        super(namespace.blocks(), namespace.blockShift());
        this.drive = drive;
        this.namespace = namespace;
        this.queue = queue;
        this.bufferBytes = bufferBytes;
    }

    static NvmeDriveBackedStorage open(NvmeDrive drive, NvmeNamespace namespace)
            throws FabricException {
        var bytes = Math.min(drive.maxTransferBytes(), HostDataBuffer.MAX_BYTES);
        var created =
                new NvmeDriveBackedStorage(drive, namespace, drive.newAsyncQueue(DEPTH), bytes);
        try {
            for (var i = 0; i < DEPTH; i++) {
                created.buffers.add(drive.newMemory(bytes));
            }
        } catch (Throwable e) {
            created.close();
            throw e;
        }
        return created;
    }

    /** A part of a command that uses a buffer of the drive. */
    private interface Part {
        void execute(DmaMemory buffer, long offset, int bytes)
                throws FabricException, CommandException;
    }

    /** Executes the parts of a command, each of which has room in a buffer. */
    private void execute(long offset, long bytes, Status failure, Part part)
            throws CommandException {
        try {
            permits.acquire();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new CommandException(failure);
        }
        try {
            var buffer = takeBuffer();
            var isUnused = true;
            try {
                for (var done = 0L; done < bytes; done += bufferBytes) {
                    var length = (int) Math.min(bufferBytes, bytes - done);
                    part.execute(buffer, offset + done, length);
                }
            } catch (FabricException | IllegalStateException e) {
                isUnused = e instanceof NvmeException reported && reported.status().isPresent();
                throw e;
            } finally {
                if (isUnused) {
                    buffers.add(buffer);
                } else {
                    buffer.close(); // is freed when the command has completed
                }
            }
        } catch (FabricException | IllegalStateException e) {
            throw failure(failure, e);
        } finally {
            permits.release();
        }
    }

    private DmaMemory takeBuffer() throws FabricException {
        var buffer = buffers.poll();
        return buffer == null ? drive.newMemory(bufferBytes) : buffer;
    }

    /** Returns the queue. Replaces a queue that has failed, because the drive may work again. */
    private AsyncNvmeQueue openQueue() throws FabricException {
        return queue.hasFailed() ? reopenQueue() : queue;
    }

    private synchronized AsyncNvmeQueue reopenQueue() throws FabricException {
        if (queue.hasFailed() && !closed && nextReopening.hasPassed()) {
            try {
                queue.close();
                queue = drive.newAsyncQueue(DEPTH);
            } finally {
                nextReopening = Deadline.after(REOPEN_PAUSE);
            }
        }
        return queue;
    }

    @Override
    void read(long offset, int bytes, HostDataBuffer target) throws CommandException {
        if (bytes > bufferBytes || target.hasSmallPieces()) {
            var staging = target.staging(bytes);
            execute(
                    offset,
                    bytes,
                    Status.UNRECOVERED_READ_ERROR,
                    (buffer, at, length) -> {
                        readPart(buffer, at, length);
                        var _ =
                                staging.asSlice(at - offset, length)
                                        .copyFrom(buffer.segment().asSlice(0, length));
                    });
            target.write(staging, 0);
        } else {
            execute(
                    offset,
                    bytes,
                    Status.UNRECOVERED_READ_ERROR,
                    (buffer, at, length) -> {
                        readPart(buffer, at, length);
                        target.write(buffer.segment(), 0);
                    });
        }
    }

    private void readPart(DmaMemory buffer, long offset, int bytes) throws FabricException {
        openQueue()
                .read(namespace, offset >>> blockShift(), bytes >>> blockShift(), buffer, 0)
                .await(TIMEOUT);
    }

    @Override
    void write(long offset, int bytes, HostDataBuffer source) throws CommandException {
        var staging = source.staging(bytes);
        source.read(staging, 0);
        execute(
                offset,
                bytes,
                Status.WRITE_FAULT,
                (buffer, at, length) -> {
                    var _ =
                            buffer.segment()
                                    .asSlice(0, length)
                                    .copyFrom(staging.asSlice(at - offset, length));
                    writePart(buffer, at, length);
                });
    }

    private void writePart(DmaMemory buffer, long offset, int bytes) throws FabricException {
        openQueue()
                .write(namespace, offset >>> blockShift(), bytes >>> blockShift(), buffer, 0)
                .await(TIMEOUT);
    }

    @Override
    void zero(long offset, long bytes) throws CommandException {
        execute(
                offset,
                bytes,
                Status.WRITE_FAULT,
                (buffer, at, length) -> {
                    var _ = buffer.segment().asSlice(0, length).fill((byte) 0);
                    writePart(buffer, at, length);
                });
    }

    @Override
    long force(long offset, long bytes) throws CommandException {
        try {
            openQueue().flush(namespace).await(TIMEOUT);
            return FORCE_COST;
        } catch (FabricException | IllegalStateException e) {
            throw failure(Status.WRITE_FAULT, e);
        }
    }

    /** Logs the first failure, and returns the status of the drive if it has reported one. */
    private synchronized CommandException failure(Status otherwise, Exception cause) {
        if (!failureLogged) {
            failureLogged = true;
            LOG.warn("The storage on {} failed. Further failures are not logged.", queue, cause);
        }
        return new CommandException(
                cause instanceof NvmeException failure
                        ? failure.status().orElse(otherwise)
                        : otherwise);
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        queue.close();
        for (var buffer = buffers.poll(); buffer != null; buffer = buffers.poll()) {
            buffer.close();
        }
    }
}
