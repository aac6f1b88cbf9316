package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.Change;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.BlockRangeEncoding;
import org.jrdma.volume.protocol.LeaseMode;
import org.jspecify.annotations.Nullable;

/**
 * A file that this client has opened, once or several times, and its lease.
 *
 * <p>An access holds {@code use} for reading. It acquires a lease first if necessary, and keeps it
 * until the coordinator recalls it. A recall waits for the accesses, commits the written data, and
 * gives up the lease. Each lease serves at least the access for which it was acquired. So accesses
 * must be small: {@link FileHandle} divides others. Safe for use by multiple threads.
 */
final class OpenFile {

    private final ClientSession session;
    private final DataPathSelector paths;
    private final long id;
    private final WriterRequests requests;
    private final String name;

    /** Held for reading during an access, and for writing while the lease changes. */
    private final ReentrantReadWriteLock use = new ReentrantReadWriteLock(true);

    /** Held for reading by reads, and for writing by everything that changes the content. */
    private final ReentrantReadWriteLock access = new ReentrantReadWriteLock(true);

    /** Replaced as a whole; guarded by this object. */
    private @Nullable FileLease lease;

    /** The newest revision that this client knows. */
    private long revision;

    private @Nullable VolumeException failure;
    private boolean isClosed;
    private final FileLocks locks;

    /** The number of handles. Guarded by the owner of this object. */
    int handles;

    OpenFile(ClientSession session, DataPathSelector paths, Attributes attributes, String name) {
        this.session = session;
        this.paths = paths;
        this.id = attributes.id();
        this.requests = new WriterRequests(session, id);
        this.revision = attributes.revision();
        this.name = name;
        this.locks = new FileLocks(session, id);
    }

    long id() {
        return id;
    }

    FileLocks locks() {
        return locks;
    }

    /** Accesses the content under a lease. */
    @FunctionalInterface
    private interface Access<T> {
        T run(FileContent content) throws FabricException;
    }

    private <T> T read(Access<T> operation) throws FabricException {
        while (true) {
            session.awaitValid();
            var current = hold(LeaseMode.READ);
            try {
                access.readLock().lock();
                try {
                    var result = operation.run(current.content());
                    if (isValid(current)) { // otherwise, another client may have written meanwhile
                        return result;
                    }
                } finally {
                    access.readLock().unlock();
                }
            } finally {
                use.readLock().unlock();
            }
        }
    }

    private <T> T write(Access<T> operation) throws FabricException {
        session.awaitValid();
        var current = hold(LeaseMode.WRITE);
        try {
            access.writeLock().lock();
            try {
                var result = operation.run(current.content());
                checkNotLost(current);
                return result;
            } catch (VolumeException e) {
                throw current.session() == session.id() ? e : lost(e);
            } finally {
                access.writeLock().unlock();
            }
        } finally {
            use.readLock().unlock();
        }
    }

    private synchronized boolean isValid(FileLease used) {
        return lease == used && session.isValid() && session.id() == used.session();
    }

    private synchronized void checkNotLost(FileLease used) throws VolumeException {
        checkFailure();
        if (lease != used) {
            throw lost(null);
        }
    }

    private void checkFailure() throws VolumeException {
        if (failure != null) { // another object each time, because one can suppress the other
            throw new VolumeException(
                    failure.failure(), String.valueOf(failure.getMessage()), failure);
        }
    }

    private VolumeException lost(@Nullable VolumeException cause) {
        var message = "The session ended before all data of %s was committed".formatted(name);
        return new VolumeException(Failure.SESSION_LOST, message, cause);
    }

    /**
     * Returns a lease of at least a mode. The caller must release {@code use}, held for reading.
     */
    @SuppressWarnings("LockNotBeforeTry") // the caller releases the lock
    private FileLease hold(LeaseMode mode) throws FabricException {
        use.readLock().lock();
        var current = sufficient(mode);
        if (current != null) {
            return current;
        }
        use.readLock().unlock();
        use.writeLock().lock();
        try {
            current = sufficient(mode);
            if (current == null) {
                current = acquire(mode);
            }
            use.readLock().lock(); // before writeLock is released, so that no recall is earlier
            return current;
        } finally {
            use.writeLock().unlock();
        }
    }

    private synchronized @Nullable FileLease sufficient(LeaseMode mode) {
        return lease != null && lease.mode().includes(mode) ? lease : null;
    }

    private FileLease acquire(LeaseMode mode) throws FabricException {
        synchronized (this) {
            checkFailure();
            if (isClosed) {
                throw new IllegalStateException("%s is closed".formatted(name));
            }
            lease = null; // the coordinator removes a lease for reading when it gets the request
        }
        while (true) {
            var term = session.term();
            try {
                var acquired = FileLease.request(session, paths, id, mode);
                synchronized (this) {
                    if (session.term() == term) { // the coordinator knows it
                        checkFailure(); // a lock may have been lost during the request
                        revision = acquired.attributes().revision();
                        lease = acquired;
                        return acquired;
                    }
                }
            } catch (VolumeException e) {
                if (session.term() == term) {
                    throw e;
                }
            }
        }
    }

    /** Reads bytes; returns 0 at the end of the file. */
    int read(long position, MemorySegment target) throws FabricException {
        return read(content -> content.read(position, target));
    }

    /** Returns the size. */
    long size() throws FabricException {
        return read(FileContent::size);
    }

    /** Writes bytes. */
    void write(long position, MemorySegment source) throws FabricException {
        checkEnd(position, source.byteSize());
        var _ =
                write(content -> {
                    writeNow(content, position, source);
                    return true;
                });
    }

    /** Appends bytes, and returns their position. */
    long append(MemorySegment source) throws FabricException {
        return write(content -> {
            var end = content.size();
            checkEnd(end, source.byteSize());
            writeNow(content, end, source);
            return end;
        });
    }

    /** Appends zeros that need no blocks, and returns their position. */
    long extend(long bytes) throws FabricException {
        return write(content -> {
            var end = content.size();
            checkEnd(end, bytes);
            content.extend(end + bytes);
            return end;
        });
    }

    /** Checks that a file may have these bytes. */
    static void checkEnd(long position, long bytes) throws VolumeException {
        if (position > Attributes.MAX_SIZE - bytes) {
            throw new VolumeException(
                    Failure.INVALID, "A file has up to %d bytes".formatted(Attributes.MAX_SIZE));
        }
    }

    private void writeNow(FileContent content, long position, MemorySegment source)
            throws FabricException {
        var missing = content.missingBlocks(position, source.byteSize());
        if (missing > 0) {
            allocate(content, missing);
        }
        content.write(position, source);
        if (content.added().size() >= Change.MAX_EXTENTS / 2) {
            commit(content);
        }
    }

    private void allocate(FileContent content, long missing) throws FabricException {
        while (true) {
            var term = session.term();
            var blocks = requests.allocate(content, missing);
            synchronized (this) {
                if (session.term() == term) { // otherwise, the new coordinator does not know them
                    content.reserve(blocks);
                    return;
                }
            }
        }
    }

    /** Changes the size. */
    void truncate(long size) throws FabricException {
        var _ =
                write(content -> {
                    commit(content);
                    if (size > content.size() && content.zeroEndOfLastBlock()) {
                        flush();
                    }
                    changed(requestTruncation(content, size));
                    content.truncated(size);
                    return true;
                });
    }

    private Attributes requestTruncation(FileContent content, long size) throws FabricException {
        paths.preventLateWrites(); // to blocks that will belong to other files
        try {
            return requests.truncate(content, size);
        } catch (FabricException | RuntimeException e) {
            synchronized (this) {
                if (lease != null && lease.content() == content) {
                    lease = null; // the file may be truncated, and its extents used by others
                }
            }
            throw e;
        }
    }

    /** Makes written data durable. */
    private void flush() throws FabricException {
        synchronized (this) {
            checkFailure();
        }
        paths.flush();
    }

    /**
     * Records that data was lost which was not durable. Another flush could succeed, and then
     * blocks would be committed whose content was lost.
     */
    synchronized void dataLost(VolumeException loss) {
        failure = loss;
    }

    /** Makes everything durable that was written before. */
    void force() throws FabricException {
        if (isWriter()) {
            var _ =
                    write(content -> {
                        if (!content.needsFlush()) {
                            flush(); // otherwise, commit() does it
                        }
                        commit(content);
                        return true;
                    });
        } else {
            flush(); // the written data was committed when the lease was given up
        }
    }

    private boolean isWriter() {
        return sufficient(LeaseMode.WRITE) != null;
    }

    /** Commits the extents and the size. Called while no thread changes the content. */
    private void commit(FileContent content) throws FabricException {
        if (!content.isChanged()) {
            return;
        }
        var added = content.added();
        if (content.needsFlush()) {
            flush();
        }
        for (var first = 0; ; first += Change.MAX_EXTENTS) {
            var part = added.subList(first, Math.min(added.size(), first + Change.MAX_EXTENTS));
            changed(requests.commit(content, part));
            if (first + Change.MAX_EXTENTS >= added.size()) {
                break;
            }
        }
        content.committed();
    }

    private synchronized void changed(Attributes committed) {
        revision = committed.revision();
    }

    /** Commits the written data, and keeps the lease. */
    void commit() throws FabricException {
        use.readLock().lock();
        try {
            var current = sufficient(LeaseMode.WRITE);
            if (current != null) {
                access.writeLock().lock();
                try {
                    commit(current.content());
                } finally {
                    access.writeLock().unlock();
                }
            }
        } finally {
            use.readLock().unlock();
        }
        synchronized (this) {
            checkFailure();
        }
    }

    /** Commits the written data. Waits for accesses in progress, and rejects later ones. */
    void close() throws FabricException {
        use.writeLock().lock();
        try {
            var current = sufficient(LeaseMode.WRITE);
            if (current != null) {
                commit(current.content());
            }
        } finally {
            synchronized (this) {
                isClosed = true;
                lease = null;
            }
            use.writeLock().unlock();
        }
    }

    /** Commits the written data, and gives up a lease that the coordinator recalls. */
    void recall(long number, LeaseMode keep) {
        if (keep == LeaseMode.WRITE) {
            recallCommit();
            return;
        }
        use.writeLock().lock();
        try {
            FileLease current;
            synchronized (this) {
                current = lease;
            }
            if (current == null || current.number() > number) {
                return;
            }
            commitForRecall(current);
            synchronized (this) {
                if (lease == current) {
                    lease = keep == LeaseMode.READ && failure == null ? current.forReading() : null;
                }
            }
        } finally {
            use.writeLock().unlock();
        }
    }

    private void recallCommit() {
        use.readLock().lock();
        access.writeLock().lock();
        try {
            var current = sufficient(LeaseMode.WRITE);
            if (current != null) {
                commitForRecall(current);
            }
        } finally {
            access.writeLock().unlock();
            use.readLock().unlock();
        }
    }

    private void commitForRecall(FileLease current) {
        try {
            commit(current.content());
        } catch (FabricException e) {
            var reason = e instanceof VolumeException known ? known.failure() : Failure.UNAVAILABLE;
            var message = "Data of %s could not be committed, and was lost".formatted(name);
            synchronized (this) {
                failure = new VolumeException(reason, message, e);
            }
        }
    }

    /**
     * Returns attributes with the size and time of writes that were not committed; null if they are
     * older than a commit of this client.
     */
    synchronized @Nullable Attributes withUncommitted(Attributes committed) {
        if (committed.revision() < revision) {
            return null;
        }
        if (lease == null || lease.mode() != LeaseMode.WRITE || !lease.content().isChanged()) {
            return committed;
        }
        return new Attributes(
                id,
                committed.type(),
                committed.mode(),
                lease.content().size(),
                committed.revision(),
                committed.created(),
                lease.content().modified());
    }

    /** Writes the state that a new coordinator needs. */
    synchronized void report(Encoder encoder) {
        encoder.writeLong(id);
        encoder.writeEnum(lease == null ? LeaseMode.NONE : lease.mode());
        encoder.writeLong(lease == null ? 0 : lease.number());
        BlockRangeEncoding.encode(
                encoder,
                lease != null && lease.mode() == LeaseMode.WRITE
                        ? lease.content().reserved()
                        : List.<Range>of());
        encoder.writeList(locks.held(), (target, lock) -> lock.encode(target));
    }

    /** Reports that the session has ended. Accesses fail from now on if anything was lost. */
    synchronized void sessionLost() {
        if (locks.sessionLost()) {
            failure = FileLocks.lost(name);
        } else if (lease != null && lease.content().isChanged()) {
            failure = lost(null);
        }
        lease = null;
    }

    @Override
    public String toString() {
        return name;
    }
}
