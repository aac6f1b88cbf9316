package org.jrdma.volume.coordinator;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jrdma.volume.metadata.FreeSpace;
import org.jrdma.volume.metadata.SessionRecord;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.PeerConnection;
import org.jspecify.annotations.Nullable;

/** The session of a client. Accessed with the lock of the {@link JournaledMetadata}. */
final class Session {

    /** The states of a session. */
    enum State {
        /** Known from the journal. The client has not reported its leases yet. */
        UNCLAIMED,
        /** The client can send requests. */
        ACTIVE,
        /** The session is no longer known. */
        ENDED
    }

    private static final int MAX_OPEN_FILES = 65_536;

    final long id;
    final long key;
    final String name;
    final Set<Long> openFiles = new HashSet<>();

    /** The blocks that the client may use for new extents, by file. */
    final Map<Long, FreeSpace> reserved = new HashMap<>();

    State state;

    /** True while the client is being excluded from the drives. */
    boolean isEnding;

    @Nullable PeerConnection link;

    /** The addresses at which the client serves blocks; empty if it does not. */
    List<String> addresses = List.of();

    /** The last state that the client has reported. */
    @Nullable ClientReport reported;

    /** The time from which the lease of the session is counted. */
    long lastHeartbeat = System.nanoTime();

    /** All requests with smaller numbers were answered. */
    long answered;

    Session(SessionRecord record, State state) {
        this.id = record.id();
        this.key = record.key();
        this.name = record.name();
        this.state = state;
    }

    boolean isActive() {
        return state == State.ACTIVE && !isEnding;
    }

    void checkActive() throws VolumeException {
        if (!isActive()) {
            throw lost(id);
        }
    }

    void checkLink(@Nullable PeerConnection other) throws VolumeException {
        if (other == null || !other.equals(link)) {
            throw new VolumeException(
                    Failure.NOT_COORDINATOR, "%s uses another connection".formatted(this));
        }
    }

    void open(long file) throws VolumeException {
        if (openFiles.size() >= MAX_OPEN_FILES && !openFiles.contains(file)) {
            throw new VolumeException(
                    Failure.NO_SPACE,
                    "%s has opened %d files, which is the limit".formatted(this, MAX_OPEN_FILES));
        }
        openFiles.add(file);
    }

    static VolumeException lost(long id) {
        return new VolumeException(
                Failure.SESSION_LOST,
                "Session %x has ended, because its client did not respond in time".formatted(id));
    }

    @Override
    public String toString() {
        return "session %x of %s".formatted(id, name);
    }
}
