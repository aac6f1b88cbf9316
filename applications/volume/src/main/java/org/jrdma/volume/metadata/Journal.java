package org.jrdma.volume.metadata;

import java.nio.ByteBuffer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;

/**
 * The journal of a volume, as written by one coordinator in one epoch.
 *
 * <p>The journal has two areas. The current area contains a header, a snapshot of the namespace,
 * and groups of records. Entries that arrive while a group is being written are written together as
 * the next group. When an area is full, a new snapshot goes to the other area, whose header is
 * written last. A new coordinator starts in the other area, too, so that late writes of its
 * predecessor go to an area that it does not read.
 *
 * <p>A failed write ends the journal: all later calls fail. Safe for use by multiple threads.
 */
public final class Journal {

    /** The largest number of bytes of an entry. */
    public static final int MAX_ENTRY_BYTES = 60 * 1024;

    private static final int MAX_ENTRY_BLOCKS = JournalBlockHeader.blocksFor(MAX_ENTRY_BYTES) + 1;

    /** The part of an area that snapshots can use, so that records always have room. */
    private static final int SNAPSHOT_PERCENT = 75;

    /** Throws if this node must not write, because another node may be the coordinator. */
    @FunctionalInterface
    public interface Guard {
        /** Checks that this node may write. */
        void check() throws VolumeException;
    }

    private final Drive drive;
    private final Superblock superblock;
    private final long epoch;
    private final Guard guard;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition stateChanged = lock.newCondition();
    private Encoder pending = new Encoder();
    private boolean isWriting;
    private @Nullable FabricException failure;
    private long appended;
    private long durable;
    private int area;
    private long generation;
    private int nextIndex;
    private int nextGroup;

    private Journal(Drive drive, Superblock superblock, long epoch, Guard guard) {
        this.drive = drive;
        this.superblock = superblock;
        this.epoch = epoch;
        this.guard = guard;
    }

    /**
     * Writes the journal of a new volume.
     *
     * @throws FabricException if the drive fails
     */
    public static void create(Drive drive, Superblock superblock, Namespace namespace)
            throws FabricException {
        var journal = new Journal(drive, superblock, 0, () -> {});
        journal.area = 1;
        journal.invalidate(1);
        journal.snapshot(namespace);
    }

    /** Overwrites the header of an area, which a former volume may have left. */
    private void invalidate(int number) throws FabricException {
        try (var arena = java.lang.foreign.Arena.ofConfined()) {
            drive.write(superblock.areaBlock(number), arena.allocate(Drive.BLOCK_BYTES));
        }
    }

    /**
     * Starts an epoch: writes a snapshot of a namespace to the area that was not read.
     *
     * @param recovery the result of reading the journal in this epoch
     * @param guard is checked before each write and before each acknowledgement
     * @throws FabricException if the drive fails, or this node must not write
     */
    public static Journal start(
            Drive drive, Superblock superblock, long epoch, Recovery recovery, Guard guard)
            throws FabricException {
        var journal = new Journal(drive, superblock, epoch, guard);
        journal.area = recovery.area();
        journal.generation = recovery.generation();
        journal.snapshot(recovery.namespace());
        return journal;
    }

    /** Returns the largest number of bytes of a snapshot. */
    public long maxSnapshotBytes() {
        return superblock.areaBlocks()
                * (long) SNAPSHOT_PERCENT
                / 100
                * JournalBlockHeader.PAYLOAD_BYTES;
    }

    /**
     * Returns true if the current area has no room for another entry, so that the next call must be
     * {@link #snapshot}.
     */
    public boolean isFull() {
        lock.lock();
        try {
            return superblock.areaBlocks()
                            - nextIndex
                            - JournalBlockHeader.blocksFor(pending.size())
                    < MAX_ENTRY_BLOCKS;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Appends an entry without waiting. The caller ensures that entries are appended in the order
     * in which they were applied to the namespace, and that the journal is not {@linkplain
     * #isFull() full}.
     *
     * @return the position of the entry for {@link #awaitDurable}
     */
    public long append(JournalEntry entry) {
        var encoder = new Encoder();
        entry.encode(encoder);
        if (encoder.size() > MAX_ENTRY_BYTES) {
            throw new IllegalArgumentException(
                    "An entry has %d bytes. The limit is %d."
                            .formatted(encoder.size(), MAX_ENTRY_BYTES));
        }
        lock.lock();
        try {
            pending.writeBytes(encoder.bytes());
            return ++appended;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the position of the last entry. */
    public long position() {
        lock.lock();
        try {
            return appended;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the journal. Waits until no thread is writing. */
    public void close() {
        lock.lock();
        try {
            if (failure == null) {
                failure = new VolumeException("it was closed");
            }
            while (isWriting) {
                stateChanged.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until all entries up to a position are durable. The calling thread writes them if no
     * other thread is writing.
     *
     * @throws FabricException if the journal has failed, or this node must not write
     */
    public void awaitDurable(long position) throws FabricException {
        lock.lock();
        try {
            checkFailure(); // also if a snapshot has failed, and no entry is pending
            while (durable < position) {
                if (isWriting) {
                    stateChanged.awaitUninterruptibly();
                } else {
                    writePending();
                }
                checkFailure();
            }
        } finally {
            lock.unlock();
        }
        guard.check();
    }

    private void checkFailure() throws VolumeException {
        if (failure != null) {
            throw new VolumeException(
                    "The journal has failed: %s".formatted(failure.getMessage()), failure);
        }
    }

    /** Writes a group. Releases the lock meanwhile. */
    private void writePending() throws FabricException {
        var group =
                new JournalBlockHeader(
                        JournalBlockHeader.Kind.RECORDS,
                        epoch,
                        generation,
                        nextIndex,
                        nextGroup,
                        true,
                        0);
        var payload = ByteBuffer.wrap(pending.bytes());
        var target = JournalArea.of(drive, superblock, area);
        nextIndex += JournalBlockHeader.blocksFor(payload.remaining());
        nextGroup++;
        write(() -> {
            guard.check();
            target.write(group, payload);
            drive.flush();
        });
    }

    @FunctionalInterface
    private interface Write {
        void run() throws FabricException;
    }

    /** Makes all entries that were appended durable. Called with the lock, which it releases. */
    private void write(Write write) throws FabricException {
        var position = appended;
        pending = new Encoder();
        isWriting = true;
        lock.unlock();
        @Nullable FabricException problem = null;
        try {
            write.run();
        } catch (FabricException e) {
            problem = e;
        } catch (RuntimeException | Error e) {
            problem = new VolumeException("The journal cannot be written: " + e, e);
        } finally {
            lock.lock();
            isWriting = false;
            stateChanged.signalAll();
        }
        if (problem == null) {
            durable = position;
        } else {
            failure = problem;
        }
        checkFailure();
    }

    /**
     * Writes a snapshot to the other area, which becomes the current one. All entries that were
     * appended become durable. No entry may be appended during this call.
     *
     * @throws VolumeException if the namespace is too large; the journal remains usable
     * @throws FabricException if the journal has failed, or this node must not write
     */
    public void snapshot(Namespace namespace) throws FabricException {
        var encoder = new Encoder();
        namespace.encode(encoder);
        var bytes = encoder.bytes();
        var blocks = 1 + JournalBlockHeader.blocksFor(bytes.length);
        if (blocks + MAX_ENTRY_BLOCKS > superblock.areaBlocks()) {
            throw new VolumeException(
                    Failure.NO_SPACE,
                    "The metadata has %d bytes, which do not fit in an area of %d blocks"
                            .formatted(bytes.length, superblock.areaBlocks()));
        }
        lock.lock();
        try {
            while (isWriting) {
                stateChanged.awaitUninterruptibly();
            }
            checkFailure();
            area = 1 - area;
            generation++;
            nextIndex = blocks;
            nextGroup = 1;
            var target = JournalArea.of(drive, superblock, area);
            var number = generation;
            write(() -> writeSnapshot(target, number, bytes));
        } finally {
            lock.unlock();
        }
    }

    private void writeSnapshot(JournalArea target, long number, byte[] bytes)
            throws FabricException {
        guard.check();
        target.write(
                new JournalBlockHeader(
                        JournalBlockHeader.Kind.SNAPSHOT, epoch, number, 1, 0, true, 0),
                ByteBuffer.wrap(bytes));
        drive.flush();
        guard.check();
        var header = new Encoder();
        header.writeLong(bytes.length);
        target.write(
                new JournalBlockHeader(
                        JournalBlockHeader.Kind.HEADER, epoch, number, 0, 0, true, 0),
                ByteBuffer.wrap(header.bytes()));
        drive.flush();
    }
}
