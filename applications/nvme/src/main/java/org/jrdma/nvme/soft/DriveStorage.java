package org.jrdma.nvme.soft;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.AsyncNvmeQueue;
import org.jrdma.nvme.DmaMemory;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeException;
import org.jrdma.nvme.NvmeNamespace;
import org.jrdma.nvme.model.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The blocks of a namespace of another drive. Each command is executed by the calling thread. */
final class DriveStorage extends BlockStorage {

    private static final Logger LOG = LoggerFactory.getLogger(DriveStorage.class);

    /** The number of commands of all controllers that the drive executes at the same time. */
    private static final int DEPTH = 16;

    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private final NvmeNamespace namespace;
    private final AsyncNvmeQueue queue;
    private final int bufferBytes;
    private final BlockingQueue<DmaMemory> buffers = new LinkedBlockingQueue<>();
    private boolean failureLogged;

    private DriveStorage(NvmeNamespace namespace, AsyncNvmeQueue queue, int bufferBytes) {
        super(namespace.blocks(), namespace.blockShift());
        this.namespace = namespace;
        this.queue = queue;
        this.bufferBytes = bufferBytes;
    }

    static DriveStorage open(NvmeDrive drive, NvmeNamespace namespace) throws FabricException {
        var bytes = Math.min(drive.maxTransferBytes(), DataBuffer.MAX_BYTES);
        var created = new DriveStorage(namespace, drive.newAsyncQueue(DEPTH), bytes);
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
        var buffer = takeBuffer(failure);
        try {
            for (var done = 0L; done < bytes; done += bufferBytes) {
                var length = (int) Math.min(bufferBytes, bytes - done);
                part.execute(buffer, offset + done, length);
            }
            buffers.add(buffer);
        } catch (FabricTimeoutException e) {
            buffer.close(); // is freed when the command has completed
            throw failure(failure, e);
        } catch (FabricException | IllegalStateException e) {
            buffers.add(buffer);
            throw failure(failure, e);
        } catch (Throwable e) {
            buffers.add(buffer);
            throw e;
        }
    }

    private DmaMemory takeBuffer(Status failure) throws CommandException {
        try {
            var buffer = buffers.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            if (buffer == null) {
                throw new CommandException(failure);
            }
            return buffer;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new CommandException(failure);
        }
    }

    @Override
    void read(long offset, int bytes, DataBuffer target) throws CommandException {
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
        queue.read(namespace, offset >>> blockShift(), bytes >>> blockShift(), buffer, 0)
                .await(TIMEOUT);
    }

    @Override
    void write(long offset, int bytes, DataBuffer source) throws CommandException {
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
        queue.write(namespace, offset >>> blockShift(), bytes >>> blockShift(), buffer, 0)
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
            queue.flush(namespace).await(TIMEOUT);
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
        queue.close();
        var all = new ArrayList<DmaMemory>();
        buffers.drainTo(all);
        all.forEach(DmaMemory::close);
    }
}
