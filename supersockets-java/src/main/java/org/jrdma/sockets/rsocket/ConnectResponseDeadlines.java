package org.jrdma.sockets.rsocket;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.Deadline;

/**
 * The deadlines of the connection attempts of this process that wait for a response, grouped by the
 * address of the listener.
 *
 * <p>A listener accepts its clients one after another, so if many clients connect at the same time,
 * each client may wait longer than the timeout. An attempt therefore times out only if the listener
 * has responded to no attempt of this process for the duration of the timeout. Safe for use by
 * multiple threads.
 */
final class ConnectResponseDeadlines {

    private final Duration timeout;
    private final Map<InetSocketAddress, Listener> listeners = new HashMap<>();

    /**
     * Creates an empty set.
     *
     * @param timeout the time without a response after which an attempt times out
     */
    ConnectResponseDeadlines(Duration timeout) {
        this.timeout = timeout;
    }

    private static final class Listener {
        private int waiting;

        /** The time of the last response plus the timeout; a past time if there was no response. */
        private volatile Deadline deadline = Deadline.after(Duration.ZERO);
    }

    /**
     * Records that an attempt waits for a listener. The attempt waits until the result is closed.
     */
    synchronized Awaited enter(InetSocketAddress address) {
        var listener = listeners.computeIfAbsent(address, _ -> new Listener());
        listener.waiting++;
        return new Awaited(address, listener);
    }

    private synchronized void leave(InetSocketAddress address, Listener listener) {
        if (--listener.waiting == 0) {
            listeners.remove(address);
        }
    }

    /** Returns the number of listeners for which attempts wait. */
    synchronized int count() {
        return listeners.size();
    }

    /** A connection attempt that waits for a listener. Closed when the attempt no longer waits. */
    final class Awaited implements AutoCloseable {

        private final InetSocketAddress address;
        private final Listener listener;
        private final Deadline deadline = Deadline.after(timeout);

        private Awaited(InetSocketAddress address, Listener listener) {
            this.address = address;
            this.listener = listener;
        }

        /**
         * Returns the time at which this attempt times out, which is at most {@code limit}. Each
         * response of the listener postpones that time.
         */
        Deadline deadline(Deadline limit) {
            var afterLastResponse = listener.deadline;
            var isLater = afterLastResponse.remainingNanos() > deadline.remainingNanos();
            return limit.earlier(isLater ? afterLastResponse : deadline);
        }

        /**
         * Postpones the timeout of all attempts that wait for this listener, because the listener
         * has responded.
         */
        void responded() {
            listener.deadline = Deadline.after(timeout);
        }

        @Override
        public void close() {
            leave(address, listener);
        }
    }
}
