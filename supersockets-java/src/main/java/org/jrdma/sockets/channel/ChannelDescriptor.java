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
 * <p>A {@link DirectionGuard} makes the system calls that are repeated until they succeed; it calls
 * {@link #enter} before its thread uses the descriptor, and {@link #leave} afterwards. All other
 * system calls are made while the lock of this object is held. A close wakes up the threads of both
 * directions, waits until all of them have left, and then closes the descriptor.
 */
final class ChannelDescriptor {

    /** A system call on the descriptor that does not wait. */
    @FunctionalInterface
    interface Call<T extends @Nullable Object> {
        T make() throws IOException;
    }

    private final SelectableChannel channel;
    private final int descriptor;
    private final DirectionGuard input;
    private final DirectionGuard output;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition noActiveCalls = lock.newCondition();
    private final List<EpollRegistration> registrations = new ArrayList<>(1);
    private int activeCalls;
    private boolean closed;
    private @Nullable ReadinessSource source;
    private boolean sourceReplacesDescriptor;
    private volatile boolean lingers;

    ChannelDescriptor(SelectableChannel channel, int descriptor) {
        this.channel = channel;
        this.descriptor = descriptor;
        this.input = new DirectionGuard(this, SocketCalls.POLLIN);
        this.output = new DirectionGuard(this, SocketCalls.POLLOUT);
    }

    SelectableChannel channel() {
        return channel;
    }

    /**
     * Returns the number of the descriptor. The caller must have called {@link #enter}, or be
     * within {@link #call}.
     */
    int descriptor() {
        return descriptor;
    }

    /** Returns the direction for reading and accepting. */
    DirectionGuard input() {
        return input;
    }

    /** Returns the direction for writing. */
    DirectionGuard output() {
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
     * Must be called before the descriptor is used.
     *
     * @return true if the descriptor may be used until {@link #leave()}; false if the channel is
     *     closed
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

    /**
     * Must be called when the descriptor is no longer used, after {@link #enter} has returned true.
     */
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

    /**
     * Runs {@code call} while holding the lock.
     *
     * @throws ClosedChannelException if the channel is closed
     */
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

    /**
     * Records whether the program has set SO_LINGER. If so, closing the descriptor may block until
     * the peer has received the sent bytes.
     */
    void lingers(boolean lingers) {
        this.lingers = lingers;
    }

    /**
     * Sets the events that a selector waits for; 0 ends its registration. On a closed channel, a
     * registration can only be ended.
     */
    void register(EpollRegistration registration, int events) throws IOException {
        lock.lock();
        try {
            // If a selector is closed while the close of this channel waits, the registration must
            // be removed here: the selector's epoll descriptor will not exist when the close
            // continues.
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

    private void update(EpollRegistration registration) throws IOException {
        if (sourceReplacesDescriptor) {
            registration.remove(descriptor);
        } else {
            registration.update(descriptor);
        }
    }

    /**
     * Returns the events among {@code events} for which the readiness source is ready. If there are
     * none, the source notifies the registered selectors later.
     */
    int readyBySource(int events) {
        lock.lock();
        try {
            return source == null || closed ? 0 : source.readyOrArmed(events);
        } finally {
            lock.unlock();
        }
    }

    /** Uses {@code next} as a source of readiness in addition to the descriptor. */
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
     * Replaces the socket of this channel by another one, which gets the number of this descriptor.
     * Neither of them may be connected. The registrations of selectors are transferred.
     *
     * @param other the descriptor of the new socket, which this method closes, even if it throws an
     *     exception
     */
    void replace(int other) throws IOException {
        try {
            call(() -> {
                for (var registration : registrations) {
                    registration.remove(descriptor);
                }
                SocketFailure.check(SocketCalls.replace(other, descriptor));
                for (var registration : registrations) {
                    update(registration);
                }
                return null;
            });
        } finally {
            SocketCalls.close(other);
        }
    }

    /**
     * Ends all operations on the descriptor, waits until their threads have left, and closes the
     * descriptor. Closing the descriptor blocks only if the program has set SO_LINGER.
     */
    void close() throws IOException {
        lock.lock();
        try {
            closed = true;
            try {
                input.wake();
            } finally {
                output.wake();
            }
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
        // outside the lock, because a selector that uses this channel would otherwise wait for a
        // lingering close
        if (lingers) {
            BlockingCalls.call(() -> SocketCalls.close(descriptor));
        } else {
            SocketCalls.close(descriptor);
        }
    }
}
