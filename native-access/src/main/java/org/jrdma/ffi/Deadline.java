package org.jrdma.ffi;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The time at which a wait times out, as a value of {@link System#nanoTime()}.
 *
 * @param nanoTime the value of {@link System#nanoTime()} at which the deadline passes; meaningless
 *     for {@link #NEVER}
 * @param duration the timeout that the caller specified, for use in messages
 */
public record Deadline(long nanoTime, Duration duration) {

    /** A deadline that never passes. */
    public static final Deadline NEVER = new Deadline(0, Duration.ofSeconds(Long.MAX_VALUE));

    /**
     * Returns the deadline {@code duration} from now. A duration of more than 146 years gives
     * {@link #NEVER}; a negative duration gives a deadline that has passed.
     */
    public static Deadline after(Duration duration) {
        if (duration.compareTo(Duration.ofNanos(Long.MAX_VALUE / 2)) >= 0) {
            return NEVER;
        }
        var nanos = duration.isNegative() ? 0 : duration.toNanos();
        return new Deadline(System.nanoTime() + nanos, duration);
    }

    /** Returns the earlier of two deadlines. */
    public Deadline earlier(Deadline other) {
        return other.remainingNanos() < remainingNanos() ? other : this;
    }

    /**
     * Returns the remaining nanoseconds: 0 or less if the deadline has passed, {@code
     * Long.MAX_VALUE} for {@link #NEVER}.
     */
    public long remainingNanos() {
        return equals(NEVER) ? Long.MAX_VALUE : nanoTime - System.nanoTime();
    }

    /** Returns true if the deadline has passed. */
    public boolean hasPassed() {
        return remainingNanos() <= 0;
    }

    /**
     * Creates the exception to throw if no event has occurred before this deadline. Its message is
     * {@code event} followed by the timeout, such as {@code No message within 5s}.
     *
     * @param event a clause that names the missing event, such as {@code No message}
     */
    public FabricTimeoutException missed(String event) {
        return missed(event, null);
    }

    /**
     * Creates the exception to throw if no attempt has succeeded before this deadline.
     *
     * @param event a clause that names the missing event, as in {@link #missed(String)}
     * @param cause the failure of the last attempt; null if there was none
     */
    public FabricTimeoutException missed(String event, @Nullable Throwable cause) {
        var isLong = duration.compareTo(Duration.ofSeconds(1)) > 0;
        var timeout = isLong ? duration.truncatedTo(ChronoUnit.MILLIS) : duration;
        return new FabricTimeoutException(
                event + " within " + timeout.toString().substring(2).toLowerCase(Locale.ROOT),
                cause);
    }
}
