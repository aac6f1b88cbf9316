package org.jrdma.soft.roce.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The congestion windows of all remote addresses in use (the paths), and the order in which the
 * queue pairs that wait for one of them may send.
 */
final class CongestionWindows {

    private final NetworkPacketSender packetSender;
    private final long pathBytes;

    /** The paths in use. A list is sufficient because programs rarely have many peers. */
    private final List<PathCongestionWindow> paths = new ArrayList<>();

    /** The paths on which queue pairs may be waiting for free capacity. */
    private final ArrayList<PathCongestionWindow> crowded = new ArrayList<>();

    /** The path of the queue pair that {@link #next} returned last, until its turn ends. */
    private @Nullable PathCongestionWindow serving;

    private long deadline = TimerQueue.NEVER;

    CongestionWindows(NetworkPacketSender packetSender, long pathBytes) {
        this.packetSender = packetSender;
        this.pathBytes = pathBytes;
    }

    /**
     * Returns the path to a remote address and counts one more user of it. Creates the path if it
     * does not exist.
     */
    PathCongestionWindow enter(RoceGid remote, long now) {
        packetSender.preparePath(remote, now);
        for (var i = 0; i < paths.size(); i++) {
            if (paths.get(i).remote().equals(remote)) {
                updateCapacity(paths.get(i));
                paths.get(i).enter();
                return paths.get(i);
            }
        }
        crowded.ensureCapacity(paths.size() + 1);
        var path = new PathCongestionWindow(remote, packetSender.pathBytes(remote, pathBytes), now);
        path.enter();
        paths.add(path);
        return path;
    }

    /** Applies the current capacities of all paths. */
    void updateCapacities() {
        paths.forEach(this::updateCapacity);
    }

    private void updateCapacity(PathCongestionWindow path) {
        path.capacity(packetSender.pathBytes(path.remote(), pathBytes));
    }

    /** Removes a user from a path, and the path itself if this was its last user. */
    void leave(Schedulable user, PathCongestionWindow path) {
        if (path.leave(user)) {
            paths.remove(path);
            crowded.remove(path);
        }
    }

    /**
     * Records that a queue pair waits for free capacity on a path, so that {@link #next} examines
     * the path.
     */
    void awaitCapacity(PathCongestionWindow path) {
        if (!path.crowded) {
            path.crowded = true;
            crowded.add(path);
        }
        deadline = Math.min(deadline, path.deadline());
    }

    /**
     * Returns the time at which {@link #age} must be called next, or {@link TimerQueue#NEVER} if no
     * queue pair waits for a full window.
     */
    long deadline() {
        return deadline;
    }

    /** Ends the current period of each crowded path whose period has lasted long enough. */
    void age(long now) {
        deadline = TimerQueue.NEVER;
        for (var path : crowded) {
            path.age(now);
            awaitCapacity(path);
        }
    }

    /**
     * Returns the next queue pair that may send after it has waited for its path, or null if there
     * is none.
     */
    @Nullable Schedulable next() {
        Schedulable next = null;
        for (var i = crowded.size() - 1; i >= 0 && next == null; i--) {
            var path = crowded.get(i);
            if (path.isCrowded()) {
                next = path.next();
                serving = path;
            } else {
                path.crowded = false;
                crowded.remove(i);
            }
        }
        return next;
    }

    /** Ends the turn of the queue pair that {@link #next} returned. */
    void endTurn() {
        if (serving != null) {
            serving.endTurn();
            serving = null;
        }
    }
}
