package org.jrdma.soft.roce.engine;

import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** Actions that run once, each at or after its deadline. */
final class Alarms {

    private final PriorityQueue<Alarm> alarms = new PriorityQueue<>();

    private record Alarm(long deadline, Runnable action) implements Comparable<Alarm> {

        @Override
        public int compareTo(Alarm other) {
            return Long.compare(deadline, other.deadline);
        }
    }

    void set(long deadline, Runnable action) {
        alarms.add(new Alarm(deadline, action));
    }

    /** Returns the earliest deadline, or {@link TimerQueue#NEVER} if there is no action. */
    long next() {
        return alarms.isEmpty() ? TimerQueue.NEVER : alarms.peek().deadline;
    }

    /** Removes and returns an action whose deadline has passed; null if there is none. */
    @Nullable Runnable poll(long now) {
        return next() <= now ? alarms.remove().action : null;
    }
}
