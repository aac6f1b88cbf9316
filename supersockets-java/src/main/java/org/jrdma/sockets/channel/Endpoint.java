package org.jrdma.sockets.channel;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.sockets.internal.ReadinessSource;
import org.jrdma.sockets.internal.ReadinessWaiting;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jspecify.annotations.Nullable;

/**
 * The non-blocking descriptor of a channel, and its lifetime.
 *
 * <p>Repeated calls are made by a {@link Direction}, which is counted here while its thread may use
 * the descriptor. All other calls are made while holding this object's lock. Closing wakes up the
 * threads in a direction, waits until all have left, and then closes the descriptor.
 */
final class Endpoint {

    /** A call on the descriptor that does not wait. */
    @FunctionalInterface
    interface Call<T extends @Nullable Object> {
        T make() throws IOException;
    }

    private final SelectableChannel channel;
    private final int descriptor;
    private final Direction input;
    private final Direction output;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition noActiveCalls = lock.newCondition();
    private final List<Registration> registrations = new ArrayList<>(1);
    private int activeCalls;
    private boolean closed;
    private @Nullable ReadinessSource source;
    private boolean sourceReplacesDescriptor;
    private volatile boolean lingers;

    Endpoint(SelectableChannel channel, int descriptor) {
        this.channel = channel;
        this.descriptor = descriptor;
        this.input = new Direction(this, SocketCalls.POLLIN);
        this.output = new Direction(this, SocketCalls.POLLOUT);
    }

    SelectableChannel channel() {
        return channel;
    }

    /**
     * Returns the number of the descriptor. The caller must have entered, or be in a {@link #call}.
     */
    int descriptor() {
        return descriptor;
    }

    /** Returns the direction for reading and accepting. */
    Direction input() {
        return input;
    }

    /** Returns the direction for writing. */
    Direction output() {
        return output;
    }

    /** Locks both directions. */
    void lockBoth() {
        input.lock();
        output.lock();
    }

    void unlockBoth() {
        output.unlock();
        input.unlock();
    }

    /**
     * Enters, unless the descriptor is closed.
     *
     * @return true if the descriptor may be used until {@link #leave()}
     */
    boolean enter() {
        lock.lock();
        try {
            if (!closed) {
                activeCalls++;
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        lock.lock();
        try {
            activeCalls--;
            if (closed && activeCalls == 0) {
                noActiveCalls.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes a call on the open descriptor. */
    <T extends @Nullable Object> T call(Call<T> call) throws IOException {
        lock.lock();
        try {
            ensureOpen();
            return call.make();
        } finally {
            lock.unlock();
        }
    }

    /** Throws ClosedChannelException if the channel is closed. */
    void ensureOpen() throws ClosedChannelException {
        if (closed || !channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** Records whether the close may block until the peer has received what was sent. */
    void lingers(boolean lingers) {
        this.lingers = lingers;
    }

    /** Registers with the epoll descriptor of a selector. Does nothing if the channel is closed. */
    void register(Registration registration, int events) throws IOException {
        lock.lock();
        try {
            // The selector may be closed while the close of this channel waits. The registration
            // must then be removed here.
            var known = registrations.remove(registration);
            if (known || !closed) {
                registration.setEvents(closed ? 0 : events);
                update(registration);
            }
            if (events != 0 && !closed) {
                registrations.add(registration);
            }
            if (source != null) {
                source.remove(registration.onReady());
                if (events != 0 && !closed) {
                    source.add(registration.onReady());
                    registration.onReady().run();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void update(Registration registration) throws IOException {
        if (sourceReplacesDescriptor) {
            registration.remove(descriptor);
        } else {
            registration.update(descriptor);
        }
    }

    /**
     * Returns the operations among {@code events} that the source is ready for. If it is ready for
     * none, it will notify the registered selectors.
     */
    int readyBySource(int events) {
        lock.lock();
        try {
            return source == null || closed ? 0 : source.readyOrArmed(events);
        } finally {
            lock.unlock();
        }
    }

    /** Uses {@code next} as a source of readiness beside the descriptor. */
    void watchAlso(ReadinessSource next) throws IOException {
        watch(next, false);
    }

    /** Uses {@code next} as the only source of readiness, instead of the descriptor. */
    void watch(ReadinessSource next, long spinNanos) throws IOException {
        watch(next, true);
        input.waitBy(new ReadinessWaiting(next, SocketCalls.POLLIN, spinNanos));
        output.waitBy(new ReadinessWaiting(next, SocketCalls.POLLOUT, spinNanos));
    }

    /** Uses the descriptor as the only source of readiness again. */
    void watchDescriptor() throws IOException {
        watch(null, false);
        input.waitByDescriptor();
        output.waitByDescriptor();
    }

    private void watch(@Nullable ReadinessSource next, boolean replacesDescriptor)
            throws IOException {
        call(() -> {
            for (var registration : registrations) {
                if (source != null) {
                    source.remove(registration.onReady());
                }
            }
            source = next;
            sourceReplacesDescriptor = replacesDescriptor;
            for (var registration : registrations) {
                update(registration);
                if (next != null) {
                    next.add(registration.onReady());
                    registration.onReady().run();
                }
            }
            return null;
        });
    }

    /**
     * Replaces this socket by another under the same descriptor number, while neither is connected.
     * The registrations of selectors are transferred.
     */
    void replace(int other) throws IOException {
        call(() -> {
            for (var registration : registrations) {
                registration.remove(descriptor);
            }
            SocketFailure.check(SocketCalls.replace(other, descriptor));
            SocketCalls.close(other);
            for (var registration : registrations) {
                update(registration);
            }
            return null;
        });
    }

    /**
     * Closes the descriptor after all waits on it have ended. Otherwise blocks only if the program
     * has set SO_LINGER.
     */
    void close() throws IOException {
        lock.lock();
        try {
            closed = true;
            input.wake();
            output.wake();
            while (activeCalls > 0) {
                noActiveCalls.awaitUninterruptibly();
            }
            input.release();
            output.release();
            for (var registration : registrations) {
                registration.remove(descriptor);
                if (source != null) {
                    source.remove(registration.onReady());
                }
            }
            registrations.clear();
        } finally {
            lock.unlock();
        }
        // outside the lock, so that a selector that uses this channel does not wait for a lingering
        // close
        if (lingers) {
            BlockingCalls.call(() -> SocketCalls.close(descriptor));
        } else {
            SocketCalls.close(descriptor);
        }
    }
}
