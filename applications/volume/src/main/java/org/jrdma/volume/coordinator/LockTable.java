package org.jrdma.volume.coordinator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.ByteLock;

/** The locks on ranges of bytes. Accessed with the lock of the {@link JournaledMetadata}. */
final class LockTable {

    private record HeldLock(Session session, ByteLock lock) {

        boolean conflictsWith(Session other, ByteLock requested) {
            return (session != other || lock.owner() != requested.owner())
                    && lock.overlaps(requested)
                    && !(lock.isShared() && requested.isShared());
        }

        boolean isOwnedBy(Session other, long owner) {
            return session == other && lock.owner() == owner;
        }
    }

    private final Map<Long, List<HeldLock>> locks = new HashMap<>();

    /**
     * Adds a lock. It replaces earlier locks of its owner on the same bytes.
     *
     * @return false if another owner has a conflicting lock
     * @throws VolumeException if the session has too many locks
     */
    boolean tryLock(Session session, long file, ByteLock requested) throws VolumeException {
        var held = locks.getOrDefault(file, List.of());
        checkLimit(session, file, held);
        if (held.stream().anyMatch(each -> each.conflictsWith(session, requested))) {
            return false;
        }
        unlock(session, file, requested);
        locks.computeIfAbsent(file, _ -> new ArrayList<>()).add(new HeldLock(session, requested));
        return true;
    }

    private static void checkLimit(Session session, long file, List<HeldLock> held)
            throws VolumeException {
        if (held.stream().filter(each -> each.session() == session).count() >= ByteLock.MAX_LOCKS) {
            throw new VolumeException(
                    Failure.NO_SPACE,
                    "%s has %d locks on file %d, which is the limit"
                            .formatted(session, ByteLock.MAX_LOCKS, file));
        }
    }

    /**
     * Removes the locks of an owner from a range of bytes.
     *
     * @throws VolumeException if the session has too many locks to split one of them
     */
    void unlock(Session session, long file, ByteLock range) throws VolumeException {
        var held = locks.get(file);
        if (held == null) {
            return;
        }
        var remaining = new ArrayList<HeldLock>();
        for (var each : held) {
            if (each.isOwnedBy(session, range.owner()) && each.lock().overlaps(range)) {
                addRest(remaining, each, each.lock().start(), range.start());
                addRest(remaining, each, range.end(), each.lock().end());
            } else {
                remaining.add(each);
            }
        }
        if (remaining.size() > held.size()) {
            checkLimit(session, file, held);
        }
        if (remaining.isEmpty()) {
            locks.remove(file);
        } else {
            locks.put(file, remaining);
        }
    }

    private static void addRest(List<HeldLock> target, HeldLock lock, long start, long end) {
        if (start < end) {
            target.add(
                    new HeldLock(
                            lock.session(),
                            new ByteLock(lock.lock().owner(), start, end, lock.lock().isShared())));
        }
    }

    /** Removes all locks of a session on a file. */
    void removeAll(Session session, long file) {
        locks.computeIfPresent(
                file,
                (_, held) -> {
                    held.removeIf(each -> each.session() == session);
                    return held.isEmpty() ? null : held;
                });
    }

    /** Removes all locks of a session. */
    void removeAll(Session session) {
        List.copyOf(locks.keySet()).forEach(file -> removeAll(session, file));
    }
}
