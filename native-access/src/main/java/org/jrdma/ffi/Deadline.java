package org.jrdma.ffi;

import java.time.Duration;

/**
 * A moment on the clock of {@link System#nanoTime()} by which something must have happened.
 *
 * @param nanoTime the moment; {@link #NEVER} has none
 * @param duration what the caller asked for, kept for messages
 */
public record Deadline(long nanoTime, Duration duration) {

    /** A deadline that does not come. */
    public static final Deadline NEVER = new Deadline(0, Duration.ofSeconds(Long.MAX_VALUE));

    /**
     * The moment {@code duration} from now. One of more than 146 years is {@link #NEVER}; a
     * negative one has passed.
     */
    public static Deadline after(Duration duration) {
        if (duration.compareTo(Duration.ofNanos(Long.MAX_VALUE / 2)) >= 0) {
            return NEVER;
        }
        var nanos = duration.isNegative() ? 0 : duration.toNanos();
        return new Deadline(System.nanoTime() + nanos, duration);
    }

    /** The earlier of two moments. */
    public Deadline earlier(Deadline other) {
        return other.remainingNanos() < remainingNanos() ? other : this;
    }

    /** The nanoseconds left; 0 or less when the moment has passed. */
    public long remainingNanos() {
        return equals(NEVER) ? Long.MAX_VALUE : nanoTime - System.nanoTime();
    }

    /** Whether the moment has passed. */
    public boolean hasPassed() {
        return remainingNanos() <= 0;
    }

    /** The exception for a wait that ended without {@code event}. */
    public FabricTimeoutException missed(String event) {
        return new FabricTimeoutException(
                event
                        + " within "
                        + duration.toString().substring(2).toLowerCase(java.util.Locale.ROOT));
    }
}
