package org.jrdma.soft.roce.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The paths in use, and the turns of the queue pairs that wait for free capacity on a path. */
final class CongestionWindows {

    private final long pathBytes;

    /** The paths in use. A list, because there are few. */
    private final List<CongestionWindow> paths = new ArrayList<>();

    /** The paths on which queue pairs may wait for free capacity. */
    private final List<CongestionWindow> crowded = new ArrayList<>();

    /** The path whose waiting queue pair has its turn now. */
    private @Nullable CongestionWindow serving;

    private long deadline = TimerQueue.NEVER;

    CongestionWindows(long pathBytes) {
        this.pathBytes = pathBytes;
    }

    /** Returns the path to an address, with one more user. */
    CongestionWindow enter(Address remote, long now) {
        for (var i = 0; i < paths.size(); i++) {
            if (paths.get(i).remote().equals(remote)) {
                paths.get(i).enter();
                return paths.get(i);
            }
        }
        var path = new CongestionWindow(remote, pathBytes, now);
        path.enter();
        paths.add(path);
        return path;
    }

    void leave(Schedulable user, CongestionWindow path) {
        if (path.leave(user)) {
            paths.remove(path);
            crowded.remove(path);
        }
    }

    /** Records that a queue pair waits for free capacity on a path. */
    void awaitCapacity(CongestionWindow path) {
        if (!path.crowded) {
            path.crowded = true;
            crowded.add(path);
        }
        deadline = Math.min(deadline, path.deadline());
    }

    /** The time of the next {@link #age}, or {@link TimerQueue#NEVER} if no queue pair waits. */
    long deadline() {
        return deadline;
    }

    /** Ends the periods of crowded paths that have lasted long enough. */
    void age(long now) {
        deadline = TimerQueue.NEVER;
        for (var path : crowded) {
            path.age(now);
            awaitCapacity(path);
        }
    }

    /** Returns the next queue pair that has waited and may send now, or null if there is none. */
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
