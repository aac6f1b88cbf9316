package org.jrdma.verbs.internal;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;

/**
 * Converts durations to the codes of the InfiniBand specification. A duration that has no code is
 * rounded up to the next duration that has a code.
 */
public final class DurationCodes {

    private static final long UNIT_NANOS = 4_096;
    private static final int MAX_SHIFT = 50;
    private static final int MASK = 31;
    private static final int INFINITE = 0;

    /**
     * The receiver-not-ready timers in units of 10 microseconds. The timer of code n is at index n
     * - 1; the timer of code 0 is the last element.
     */
    private static final int[] RECEIVER_NOT_READY = {
        1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
        2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 24_576, 32_768, 49_152, 65_536
    };

    private static final long RECEIVER_NOT_READY_UNIT_NANOS = 10_000;

    private DurationCodes() {}

    /**
     * Returns the exponent of an acknowledgement timeout, which is 4.096 us * 2^exponent. Returns
     * 0, which disables the timeout, for a duration above the longest timeout.
     *
     * @throws IllegalArgumentException if the duration is zero or negative
     */
    public static byte acknowledgeTimeout(Duration timeout) {
        requirePositive(timeout, "acknowledgement timeout");
        for (byte exponent = 1; exponent <= MASK; exponent++) {
            if (timeout.compareTo(exponential(exponent)) <= 0) {
                return exponent;
            }
        }
        return INFINITE;
    }

    /**
     * Returns the acknowledgement timeout of an exponent, of which the lower 5 bits count; {@link
     * ChronoUnit#FOREVER} for 0.
     */
    public static Duration acknowledgeTimeout(byte exponent) {
        return (exponent & MASK) == INFINITE
                ? ChronoUnit.FOREVER.getDuration()
                : exponential(exponent & MASK);
    }

    /**
     * Returns the duration 4.096 us * 2^exponent. Exponents above 50 are treated as 50, because the
     * nanoseconds would overflow.
     */
    public static Duration exponential(int exponent) {
        return Duration.ofNanos(UNIT_NANOS << Math.min(exponent, MAX_SHIFT));
    }

    /**
     * Returns the code of a receiver-not-ready timer.
     *
     * @throws IllegalArgumentException if the duration is zero, negative or longer than 655.36 ms
     */
    public static byte receiverNotReadyTimer(Duration timer) {
        requirePositive(timer, "receiver-not-ready timer");
        var index =
                Arrays.stream(RECEIVER_NOT_READY)
                        .filter(units -> timer.compareTo(timerOf(units)) > 0)
                        .count();
        if (index == RECEIVER_NOT_READY.length) {
            throw new IllegalArgumentException(
                    "The receiver-not-ready timer must be at most 655.36 ms: " + timer);
        }
        return (byte) ((index + 1) % RECEIVER_NOT_READY.length);
    }

    /** Returns the receiver-not-ready timer of a code, of which the lower 5 bits count. */
    public static Duration receiverNotReadyTimer(byte code) {
        return timerOf(RECEIVER_NOT_READY[(code - 1) & MASK]);
    }

    private static Duration timerOf(int units) {
        return Duration.ofNanos(units * RECEIVER_NOT_READY_UNIT_NANOS);
    }

    private static void requirePositive(Duration duration, String name) {
        if (!duration.isPositive()) {
            throw new IllegalArgumentException(
                    "The %s must be positive: %s".formatted(name, duration));
        }
    }
}
