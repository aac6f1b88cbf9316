package org.jrdma.volume.nio;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jrdma.volume.client.FileHandle;
import org.jspecify.annotations.Nullable;

/**
 * A channel of a file in a volume. It cannot be mapped. Two channels of one process exclude each
 * other by locks, as channels of different processes do.
 */
final class VolumeFileChannel extends FileChannel {

    private static final int TRANSFER_BYTES = 1 << 20;

    private final VolumePath path;
    private final FileHandle handle;
    private final Set<? extends OpenOption> options;
    private final boolean isWritable;
    private final boolean isAppending;
    private final List<VolumeFileLock> locks = new CopyOnWriteArrayList<>();
    private long position;

    VolumeFileChannel(VolumePath path, FileHandle handle, Set<? extends OpenOption> options) {
        this.path = path;
        this.handle = handle;
        this.options = options;
        this.isAppending = options.contains(StandardOpenOption.APPEND);
        this.isWritable = isAppending || options.contains(StandardOpenOption.WRITE);
    }

    FileHandle handle() {
        return handle;
    }

    /** Runs an operation, and translates its failure. */
    private <T> T translate(FileSystemExceptions.Operation<T> operation) throws IOException {
        try {
            return FileSystemExceptions.translate(path, operation);
        } catch (IllegalStateException e) {
            if (isOpen()) {
                throw e;
            }
            var closed = new AsynchronousCloseException();
            closed.initCause(e);
            throw closed;
        }
    }

    private void checkReadable() throws ClosedChannelException {
        checkOpen();
        if (isWritable && !options.contains(StandardOpenOption.READ)) {
            throw new NonReadableChannelException();
        }
    }

    private void checkWritable() throws ClosedChannelException {
        checkOpen();
        if (!isWritable) {
            throw new NonWritableChannelException();
        }
    }

    private void checkOpen() throws ClosedChannelException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public synchronized int read(ByteBuffer target) throws IOException {
        var count = read(target, position);
        position += Math.max(count, 0);
        return count;
    }

    @Override
    public int read(ByteBuffer target, long from) throws IOException {
        checkReadable();
        checkPosition(from);
        if (!target.hasRemaining()) {
            return 0;
        }
        var memory = memory(target);
        var count = translate(() -> handle.read(from, memory));
        target.position(target.position() + count);
        return count == 0 ? -1 : count;
    }

    /** Returns the memory of a buffer. Freed memory would look like a failure of the drive. */
    private static MemorySegment memory(ByteBuffer buffer) {
        var memory = MemorySegment.ofBuffer(buffer);
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("The memory of the buffer was freed");
        }
        return memory;
    }

    private static void checkPosition(long position) {
        if (position < 0) {
            throw new IllegalArgumentException("Negative position " + position);
        }
    }

    @Override
    public synchronized long read(ByteBuffer[] targets, int offset, int length) throws IOException {
        java.util.Objects.checkFromIndexSize(offset, length, targets.length);
        var total = 0L;
        for (var i = offset; i < offset + length; i++) {
            while (targets[i].hasRemaining()) {
                var count = read(targets[i]);
                if (count < 0) {
                    return total == 0 ? -1 : total;
                }
                total += count;
            }
        }
        return total;
    }

    @Override
    public synchronized int write(ByteBuffer source) throws IOException {
        checkWritable();
        if (!isAppending) {
            var count = write(source, position);
            position += count;
            return count;
        }
        var count = source.remaining();
        var memory = memory(source);
        position = translate(() -> handle.append(memory));
        written(source, count);
        return count;
    }

    @Override
    public int write(ByteBuffer source, long to) throws IOException {
        checkWritable();
        checkPosition(to);
        var count = source.remaining();
        var memory = memory(source);
        var _ =
                translate(() -> {
                    handle.write(to, memory);
                    return true;
                });
        written(source, count);
        return count;
    }

    private void written(ByteBuffer source, int count) throws IOException {
        source.position(source.position() + count);
        if (options.contains(StandardOpenOption.SYNC)
                || options.contains(StandardOpenOption.DSYNC)) {
            force(true);
        }
    }

    @Override
    public synchronized long write(ByteBuffer[] sources, int offset, int length)
            throws IOException {
        java.util.Objects.checkFromIndexSize(offset, length, sources.length);
        var total = 0L;
        for (var i = offset; i < offset + length; i++) {
            total += write(sources[i]);
        }
        return total;
    }

    @Override
    public synchronized long position() throws IOException {
        checkOpen();
        return position;
    }

    @Override
    public synchronized FileChannel position(long newPosition) throws IOException {
        checkOpen();
        checkPosition(newPosition);
        position = newPosition;
        return this;
    }

    @Override
    public long size() throws IOException {
        checkOpen();
        return translate(handle::size);
    }

    @Override
    public synchronized FileChannel truncate(long size) throws IOException {
        checkWritable();
        checkPosition(size);
        if (size < size()) {
            var _ =
                    translate(() -> {
                        handle.truncate(size);
                        return true;
                    });
        }
        position = Math.min(position, size);
        return this;
    }

    @Override
    public void force(boolean metadata) throws IOException {
        checkOpen();
        var _ =
                translate(() -> {
                    handle.force();
                    return true;
                });
    }

    @Override
    public long transferTo(long from, long count, WritableByteChannel target) throws IOException {
        checkReadable();
        checkPosition(from);
        checkPosition(count);
        var buffer = ByteBuffer.allocateDirect((int) Math.min(count, TRANSFER_BYTES));
        var total = 0L;
        while (total < count) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), count - total));
            if (read(buffer, from + total) < 0) {
                break;
            }
            buffer.flip();
            var written = target.write(buffer);
            total += written;
            if (buffer.hasRemaining()) {
                break; // the channel does not block
            }
        }
        return total;
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long to, long count) throws IOException {
        checkWritable();
        checkPosition(to);
        checkPosition(count);
        if (to > size()) {
            return 0;
        }
        var buffer = ByteBuffer.allocateDirect((int) Math.min(count, TRANSFER_BYTES));
        var total = 0L;
        while (total < count) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), count - total));
            if (source.read(buffer) <= 0) {
                break;
            }
            total += write(buffer.flip(), to + total);
        }
        return total;
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long from, long size) {
        throw new UnsupportedOperationException("A file of a volume cannot be mapped");
    }

    @Override
    public FileLock lock(long from, long size, boolean isShared) throws IOException {
        var lock = tryLock(from, size, isShared, true);
        if (lock == null) {
            throw new IOException("%s is locked".formatted(path));
        }
        return lock;
    }

    @Override
    public @Nullable FileLock tryLock(long from, long size, boolean isShared) throws IOException {
        return tryLock(from, size, isShared, false);
    }

    private @Nullable FileLock tryLock(long from, long size, boolean isShared, boolean isWaiting)
            throws IOException {
        if (isShared) {
            checkReadable();
        } else {
            checkWritable();
        }
        checkPosition(from);
        checkPosition(size);
        var lock = new VolumeFileLock(this, from, size, isShared);
        if (locks.stream().anyMatch(each -> each.overlaps(from, size))) {
            throw new OverlappingFileLockException();
        }
        locks.add(lock);
        var isLocked = false;
        try {
            isLocked =
                    translate(() ->
                            handle.lock(from, VolumeFileLock.end(from, size), isShared, isWaiting));
        } finally {
            if (!isLocked) {
                locks.remove(lock);
            }
        }
        return isLocked ? lock : null;
    }

    void released(VolumeFileLock lock) {
        locks.remove(lock);
    }

    @Override
    protected void implCloseChannel() throws IOException {
        try {
            handle.close();
        } finally {
            path.fileSystem().remove(this);
            if (options.contains(StandardOpenOption.DELETE_ON_CLOSE)) {
                java.nio.file.Files.deleteIfExists(path);
            }
        }
    }
}
