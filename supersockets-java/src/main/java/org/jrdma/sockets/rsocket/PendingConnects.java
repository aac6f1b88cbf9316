package org.jrdma.sockets.rsocket;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.Deadline;

/**
 * The listeners that connection attempts of this process are waiting for.
 *
 * <p>A listener accepts one client after another, so many clients at once wait long. An attempt
 * therefore times out only if the listener has not responded to any attempt of this process for the
 * timeout. Safe for use by multiple threads.
 */
final class PendingConnects {

    private final Duration timeout;
    private final Map<InetSocketAddress, Listener> listeners = new HashMap<>();

    /**
     * Creates an empty set.
     *
     * @param timeout the time without any response after which an attempt gives up
     */
    PendingConnects(Duration timeout) {
        this.timeout = timeout;
    }

    private static final class Listener {
        private int waiting;

        /** The timeout after the last response. */
        private volatile Deadline deadline = Deadline.after(Duration.ZERO);
    }

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

    synchronized int count() {
        return listeners.size();
    }

    /** One attempt that waits for a listener, until it is closed. */
    final class Awaited implements AutoCloseable {

        private final InetSocketAddress address;
        private final Listener listener;
        private final Deadline deadline = Deadline.after(timeout);

        private Awaited(InetSocketAddress address, Listener listener) {
            this.address = address;
            this.listener = listener;
        }

        /**
         * Returns the current deadline, at most {@code limit}. Each response of the listener
         * extends it.
         */
        Deadline deadline(Deadline limit) {
            var afterLastResponse = listener.deadline;
            var isLater = afterLastResponse.remainingNanos() > deadline.remainingNanos();
            return limit.earlier(isLater ? afterLastResponse : deadline);
        }

        /** Extends the deadline of all attempts, because the listener has responded. */
        void responded() {
            listener.deadline = Deadline.after(timeout);
        }

        @Override
        public void close() {
            leave(address, listener);
        }
    }
}
