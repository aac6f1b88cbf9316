package org.jrdma.soft.roce.connection;

import java.util.Collection;
import java.util.Comparator;
import java.util.TreeSet;

/**
 * The timers of the exchanges of a connection manager. If an operation fails with OutOfMemoryError,
 * it is repeated a little later, so that no timer is lost.
 */
final class ExchangeTimers {

    private static final long RETRY_NANOS = 10_000_000;

    private final Collection<TimedExchange> exchanges;

    /** The exchanges whose timer is running, ordered by deadline. */
    private final TreeSet<TimedExchange> waiting =
            new TreeSet<>(
                    Comparator.<TimedExchange>comparingLong(TimedExchange::deadline)
                            .thenComparingInt(exchange -> exchange.localId));

    /** True if there was no memory to add an exchange to {@link #waiting}. */
    private boolean isIncomplete;

    /** The time until which no timer is handled, after an OutOfMemoryError. */
    private long retryAt = Long.MIN_VALUE;

    /**
     * @param exchanges a view of all exchanges
     */
    ExchangeTimers(Collection<TimedExchange> exchanges) {
        this.exchanges = exchanges;
    }

    /** Sets the deadline of an exchange; {@link TimedExchange#NEVER} stops its timer. */
    void schedule(TimedExchange exchange, long deadline, long now) {
        waiting.remove(exchange);
        exchange.deadline(deadline);
        if (deadline == TimedExchange.NEVER) {
            return;
        }
        try {
            waiting.add(exchange);
        } catch (VirtualMachineError e) {
            isIncomplete = true;
            retryAt = now + RETRY_NANOS;
        }
    }

    /** Returns the time at which {@link #expire} must be called. */
    long nextDeadline() {
        if (isIncomplete) {
            return retryAt;
        }
        return waiting.isEmpty()
                ? TimedExchange.NEVER
                : Math.max(waiting.first().deadline(), retryAt);
    }

    /** Handles the timers that have expired. */
    void expire(long now) {
        try {
            addMissing();
            while (nextDeadline() <= now) {
                expire(waiting.first());
            }
        } catch (VirtualMachineError e) {
            retryAt = now + RETRY_NANOS;
            throw e;
        }
    }

    private void addMissing() {
        if (!isIncomplete) {
            return;
        }
        for (var exchange : exchanges) {
            if (exchange.deadline() != TimedExchange.NEVER) {
                waiting.add(exchange);
            }
        }
        isIncomplete = false;
    }

    /**
     * Handles the expiry of a timer, and stops the timer. If the handler throws OutOfMemoryError,
     * the timer keeps running.
     */
    private static void expire(TimedExchange due) {
        var deadline = due.deadline();
        var isRepeated = false;
        try {
            due.expired();
        } catch (VirtualMachineError e) {
            isRepeated = true;
            throw e;
        } finally {
            if (!isRepeated && due.deadline() == deadline) {
                due.cancelTimer();
            }
        }
    }
}
