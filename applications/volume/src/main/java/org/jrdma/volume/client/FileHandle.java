package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.protocol.ByteLock;

/**
 * An open file. Data that was written is visible to all clients at once, and durable after {@link
 * #force()} or {@link #close()}.
 *
 * <p>A read or write of less than 4 MiB is atomic while no node fails: other threads and clients do
 * not change its bytes during a read, and find all or none of the bytes of a write. A larger access
 * consists of such parts. The bytes of an append are always consecutive. Until a larger append has
 * returned, others can find zeros in place of its bytes, which remain if it fails.
 *
 * <p>Owned by its {@link VolumeClient}. Safe for use by multiple threads.
 */
public final class FileHandle implements AutoCloseable {

    /**
     * The largest part of an access for which the client keeps its lease. It limits the time for
     * which a recall waits, and the numbers of reserved blocks and new extents.
     */
    private static final long MAX_PART_BYTES = 4 << 20;

    private static final AtomicLong OWNERS = new AtomicLong();

    private final VolumeClient client;
    private final OpenFile file;
    private final long owner = OWNERS.incrementAndGet();
    private final List<ByteLock> locks = new ArrayList<>();

    /** Held for reading while a lock is requested, and for writing to wait for that. */
    private final ReentrantReadWriteLock locking = new ReentrantReadWriteLock();

    private volatile boolean isClosed;

    FileHandle(VolumeClient client, OpenFile file) {
        this.client = client;
        this.file = file;
    }

    /** Returns the number of the file. */
    public long id() {
        return file.id();
    }

    private OpenFile file() {
        if (isClosed) {
            throw new IllegalStateException("The handle of %s is closed".formatted(file));
        }
        return file;
    }

    /**
     * Reads bytes.
     *
     * @return the number of bytes; 0 at the end of the file
     * @throws FabricException if no path to the data or no coordinator works
     */
    public int read(long position, MemorySegment target) throws FabricException {
        var done = 0;
        while (true) {
            var start = position + done;
            var part = target.asSlice(done, partBytes(start, target.byteSize() - done));
            var count = file().read(start, part);
            done += count;
            if (count < part.byteSize() || done == target.byteSize()) {
                return done;
            }
        }
    }

    /**
     * Writes bytes. A position after the end of the file extends it with zeros.
     *
     * @throws FabricException if the volume is full, or no path to the data or no coordinator works
     */
    public void write(long position, MemorySegment source) throws FabricException {
        OpenFile.checkEnd(position, source.byteSize());
        var done = 0L;
        do {
            var start = position + done;
            var part = source.asSlice(done, partBytes(start, source.byteSize() - done));
            file().write(start, part);
            done += part.byteSize();
        } while (done < source.byteSize());
    }

    /**
     * Writes bytes at the end of the file.
     *
     * @return the position after the bytes
     * @throws FabricException if the volume is full, or no path to the data or no coordinator works
     */
    public long append(MemorySegment source) throws FabricException {
        var bytes = source.byteSize();
        if (bytes <= MAX_PART_BYTES) {
            return file().append(source) + bytes;
        }
        var start = file().extend(bytes); // other appends come after all parts
        write(start, source);
        return start + bytes;
    }

    /** Returns the size of the next part, so that all parts after it start with a block. */
    private static long partBytes(long position, long bytes) {
        return bytes <= MAX_PART_BYTES ? bytes : MAX_PART_BYTES - position % Drive.BLOCK_BYTES;
    }

    /**
     * Returns the size of the file.
     *
     * @throws FabricException if no coordinator works
     */
    public long size() throws FabricException {
        return file().size();
    }

    /**
     * Changes the size of the file.
     *
     * @throws FabricException if no coordinator works
     */
    public void truncate(long size) throws FabricException {
        file().truncate(size);
    }

    /**
     * Makes everything durable that was written to the file before this call.
     *
     * @throws FabricException if data was lost, or no path to the data or no coordinator works
     */
    public void force() throws FabricException {
        file().force();
    }

    /**
     * Locks a range of bytes for this handle. If the session of the client ends while a lock is
     * held, all accesses to the file fail with {@link org.jrdma.volume.model.Failure#SESSION_LOST},
     * until all handles of the client for this file were closed and it is opened again.
     *
     * @param end the first byte after the range
     * @param isWaiting true to wait for other locks, up to the retry timeout of the client
     * @return false if another handle has a conflicting lock
     * @throws FabricException if no coordinator works
     * @throws IllegalStateException if this handle is closed, also during this call
     */
    public boolean lock(long start, long end, boolean isShared, boolean isWaiting)
            throws FabricException {
        var lock = new ByteLock(owner, start, end, isShared);
        locking.readLock().lock();
        try {
            if (!file().locks().lock(lock, isWaiting, this::checkOpen)) {
                return false;
            }
            synchronized (locks) {
                locks.add(lock);
            }
            checkOpen(); // close() waits for this method, and then releases the lock
            return true;
        } finally {
            locking.readLock().unlock();
        }
    }

    private void checkOpen() {
        var _ = file();
    }

    /**
     * Unlocks a range of bytes that {@link #lock} has locked.
     *
     * @throws FabricException if no coordinator works
     */
    public void unlock(long start, long end, boolean isShared) throws FabricException {
        var lock = new ByteLock(owner, start, end, isShared);
        synchronized (locks) {
            locks.remove(lock);
        }
        file.locks().unlock(List.of(lock));
    }

    /** Returns true if a lock is held: the session did not end since it was acquired. */
    public boolean holds(long start, long end, boolean isShared) {
        return file.locks().held().contains(new ByteLock(owner, start, end, isShared));
    }

    /**
     * Makes the written data durable, and releases all locks of this handle. Ends the calls that
     * wait for a lock.
     *
     * @throws FabricException if data was lost, or no path to the data or no coordinator works
     */
    @Override
    public void close() throws FabricException {
        synchronized (locks) {
            if (isClosed) {
                return;
            }
            isClosed = true;
        }
        var held = awaitLocks();
        // The locks are released before the coordinator closes the file.
        try (VolumeClient.Release _ = () -> client.close(file);
                VolumeClient.Release _ = () -> file.locks().unlock(held)) {
            file.force();
        }
    }

    /** Waits for calls that request a lock, and returns the locks. */
    private List<ByteLock> awaitLocks() {
        locking.writeLock().lock();
        try {
            synchronized (locks) {
                return List.copyOf(locks);
            }
        } finally {
            locking.writeLock().unlock();
        }
    }
}
