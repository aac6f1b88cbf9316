package org.jrdma.soft.roce.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The paths that connections use, and the turns of those that wait for room on a path. */
final class PathTable {

    private final long pathBytes;

    /** The paths in use. A list, because there are few. */
    private final List<Path> paths = new ArrayList<>();

    /** The paths that may have queue pairs waiting for room. */
    private final List<Path> crowded = new ArrayList<>();

    /** The path whose waiting queue pair has its turn now. */
    private @Nullable Path serving;

    private long deadline = TimerQueue.NEVER;

    PathTable(long pathBytes) {
        this.pathBytes = pathBytes;
    }

    /** Adds a user to the path to an address. */
    Path enter(Address remote, long now) {
        for (var i = 0; i < paths.size(); i++) {
            if (paths.get(i).remote().equals(remote)) {
                paths.get(i).enter();
                return paths.get(i);
            }
        }
        var path = new Path(remote, pathBytes, now);
        path.enter();
        paths.add(path);
        return path;
    }

    void leave(Schedulable user, Path path) {
        if (path.leave(user)) {
            paths.remove(path);
            crowded.remove(path);
        }
    }

    /** Notes that a queue pair waits for room on a path. */
    void awaitRoom(Path path) {
        if (!path.crowded) {
            path.crowded = true;
            crowded.add(path);
        }
        deadline = Math.min(deadline, path.deadline());
    }

    /** When to {@link #age} the paths; {@link TimerQueue#NEVER} while no queue pair waits. */
    long deadline() {
        return deadline;
    }

    /** Ends the periods of crowded paths that have lasted long enough. */
    void age(long now) {
        deadline = TimerQueue.NEVER;
        for (var path : crowded) {
            path.age(now);
            awaitRoom(path);
        }
    }

    /** The next queue pair that has waited and finds room; null if there is none. */
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
            serving.serveNobody();
            serving = null;
        }
    }
}
