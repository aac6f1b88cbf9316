package org.jrdma.sockets.rsocket;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.Deadline;

/**
 * Listeners that somebody waits for. Each answers one after the other, so that who comes with many
 * waits for long, and is answered all the same: a listener is there for as long as it answers
 * anybody. Safe for use by several threads.
 */
final class AwaitedListeners {

    private final Duration timeout;
    private final Map<InetSocketAddress, Listener> listeners = new HashMap<>();

    /** Who waits gives up when the listener has answered nobody for so long. */
    AwaitedListeners(Duration timeout) {
        this.timeout = timeout;
    }

    private static final class Listener {
        private int waiting;

        /** When its last answer is too long ago. */
        private volatile Deadline givenUpAt = Deadline.after(Duration.ZERO);
    }

    /** Begins to wait for one. */
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

    /** How many are waited for. */
    synchronized int count() {
        return listeners.size();
    }

    /** What one who waits knows of the listener; closed when he waits no more. */
    final class Awaited implements AutoCloseable {

        private final InetSocketAddress address;
        private final Listener listener;
        private final Deadline givenUpAt = Deadline.after(timeout);

        private Awaited(InetSocketAddress address, Listener listener) {
            this.address = address;
            this.listener = listener;
        }

        /** Until when to wait, but no longer than to {@code most}; later with each answer. */
        Deadline until(Deadline most) {
            var sinceLastAnswer = listener.givenUpAt;
            var isLater = sinceLastAnswer.remainingNanos() > givenUpAt.remainingNanos();
            return most.earlier(isLater ? sinceLastAnswer : givenUpAt);
        }

        /** Tells all who wait. */
        void hasAnswered() {
            listener.givenUpAt = Deadline.after(timeout);
        }

        @Override
        public void close() {
            leave(address, listener);
        }
    }
}
