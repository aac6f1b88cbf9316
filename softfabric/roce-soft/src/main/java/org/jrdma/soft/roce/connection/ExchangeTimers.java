package org.jrdma.soft.roce.connection;

import java.util.Collection;
import java.util.Comparator;
import java.util.TreeSet;

/**
 * The timers of the exchanges of a connection manager. No timer is lost because of a lack of
 * memory: what fails for this reason is repeated a little later.
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

    /** The time before which no timer is handled. */
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

    /** Stops a timer and handles its expiry. The timer is not stopped if memory is lacking. */
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
