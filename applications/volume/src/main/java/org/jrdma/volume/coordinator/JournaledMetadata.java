package org.jrdma.volume.coordinator;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.metadata.Change;
import org.jrdma.volume.metadata.FileExtent;
import org.jrdma.volume.metadata.FreeSpace;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.metadata.Journal;
import org.jrdma.volume.metadata.JournalEntry;
import org.jrdma.volume.metadata.Namespace;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.RequestHeader;

/** The state that the parts of a coordinator share, and its lock. */
final class JournaledMetadata {

    /** Guards this state and that of all other parts of the coordinator. */
    final ReentrantLock lock = new ReentrantLock();

    /** Signaled at each change that a thread may wait for. */
    final Condition changed = lock.newCondition();

    final Namespace namespace;
    final Journal journal;

    /** The blocks that neither files use nor sessions have reserved. */
    final FreeSpace available;

    JournaledMetadata(Namespace namespace, Journal journal) {
        this.namespace = namespace;
        this.journal = journal;
        this.available = new FreeSpace(namespace.free());
    }

    /** Executes changes in one transaction. */
    @FunctionalInterface
    interface Work {
        /** Applies changes and returns the reply. */
        byte[] run(Transaction transaction) throws VolumeException;
    }

    /** The changes of one request. */
    final class Transaction {

        private final List<Change> changes = new ArrayList<>();

        /** Applies a change to the namespace. */
        void apply(Change change) throws VolumeException {
            for (var extent : namespace.apply(change)) {
                release(extent);
            }
            changes.add(change);
        }
    }

    /**
     * Executes a request that changes metadata, or returns the reply of an earlier execution. The
     * changes are appended to the journal. Called with the lock.
     */
    byte[] execute(Session session, RequestHeader header, Work work) throws FabricException {
        session.answered = Math.max(session.answered, header.answered());
        if (header.request() < session.answered) {
            throw new VolumeException(
                    Failure.INVALID, "Request %d was answered earlier".formatted(header.request()));
        }
        var record = namespace.sessions().get(session.id);
        var earlier = record == null ? null : record.replies().get(header.request());
        if (earlier != null) {
            return earlier;
        }
        ensureRoom();
        var transaction = new Transaction();
        var reply = new byte[0];
        try {
            reply = work.run(transaction);
            return reply;
        } finally {
            if (!transaction.changes.isEmpty()) {
                append(
                        new JournalEntry(
                                session.id,
                                header.request(),
                                session.answered,
                                reply,
                                transaction.changes));
            }
        }
    }

    /** Applies changes that no client has requested. Called with the lock. */
    void execute(Change... changes) throws FabricException {
        ensureRoom();
        var transaction = new Transaction();
        try {
            for (var change : changes) {
                transaction.apply(change);
            }
        } finally {
            if (!transaction.changes.isEmpty()) {
                append(JournalEntry.of(transaction.changes.toArray(Change[]::new)));
            }
        }
    }

    private void ensureRoom() throws FabricException {
        if (journal.isFull()) {
            journal.snapshot(namespace);
        }
    }

    private void append(JournalEntry entry) {
        namespace.remember(entry);
        var _ = journal.append(entry);
        changed.signalAll();
    }

    private void release(FileExtent extent) {
        available.release(new Range(extent.driveBlock(), extent.blocks()));
    }

    /**
     * Checks that the metadata can grow.
     *
     * @throws VolumeException if the journal has no room for more
     */
    void checkMetadataSpace() throws VolumeException {
        if (namespace.encodedBytes() > journal.maxSnapshotBytes()) {
            throw new VolumeException(
                    Failure.NO_SPACE,
                    "The volume has no space for more metadata: %d bytes of %d are used"
                            .formatted(namespace.encodedBytes(), journal.maxSnapshotBytes()));
        }
    }
}
