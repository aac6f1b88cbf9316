package org.jrdma.sockets.channel;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.sockets.internal.ReadinessSource;
import org.jrdma.sockets.internal.ReadinessWaiting;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jspecify.annotations.Nullable;

/**
 * A channel's descriptor, which never waits: who may use it, and how it ends.
 *
 * <p>Calls that are made again and again are made by a {@link Direction}, whose thread is counted
 * here as inside; all others under this object's gate. The close wakes the threads inside, and
 * takes the number away when all have left.
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

    private final ReentrantLock gate = new ReentrantLock();
    private final Condition allHaveLeft = gate.newCondition();
    private final List<Registration> registrations = new ArrayList<>(1);
    private int inside;
    private boolean closed;
    private @Nullable ReadinessSource source;
    private boolean sourceIsAlone;
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

    /** The descriptor's number, for whoever is inside or in a {@link #call}. */
    int descriptor() {
        return descriptor;
    }

    /** For what reads or accepts. */
    Direction input() {
        return input;
    }

    /** For what writes. */
    Direction output() {
        return output;
    }

    /** For what concerns both directions. */
    void lockBoth() {
        input.lock();
        output.lock();
    }

    void unlockBoth() {
        output.unlock();
        input.unlock();
    }

    /** Whether the descriptor may be used until {@link #leave()}. */
    boolean enter() {
        gate.lock();
        try {
            if (!closed) {
                inside++;
            }
            return !closed;
        } finally {
            gate.unlock();
        }
    }

    void leave() {
        gate.lock();
        try {
            inside--;
            if (closed && inside == 0) {
                allHaveLeft.signalAll();
            }
        } finally {
            gate.unlock();
        }
    }

    /** Makes a call on the open descriptor. */
    <T extends @Nullable Object> T call(Call<T> call) throws IOException {
        gate.lock();
        try {
            ensureOpen();
            return call.make();
        } finally {
            gate.unlock();
        }
    }

    /** Refuses what is asked of a closed channel. */
    void ensureOpen() throws ClosedChannelException {
        if (closed || !channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** Whether the close may take long: until the peer has what was sent. */
    void lingers(boolean lingers) {
        this.lingers = lingers;
    }

    /** Makes a selector's epoll descriptor tell of this one; nothing if the channel is closed. */
    void listen(Registration registration, int events) throws IOException {
        gate.lock();
        try {
            // A selector may end while a close waits, which must then know nothing of it any more.
            var known = registrations.remove(registration);
            if (known || !closed) {
                registration.want(closed ? 0 : events);
                ask(registration);
            }
            if (events != 0 && !closed) {
                registrations.add(registration);
            }
            if (source != null) {
                source.remove(registration.told());
                if (events != 0 && !closed) {
                    source.add(registration.told());
                    registration.told().run();
                }
            }
        } finally {
            gate.unlock();
        }
    }

    private void ask(Registration registration) throws IOException {
        if (sourceIsAlone) {
            registration.listenNoMore(descriptor);
        } else {
            registration.listen(descriptor);
        }
    }

    /**
     * What the source is ready for of {@code events}; if for nothing, the registered hear of it.
     */
    int readyBySource(int events) {
        gate.lock();
        try {
            return source == null || closed ? 0 : source.readyOrArmed(events);
        } finally {
            gate.unlock();
        }
    }

    /** From now on {@code next} tells what the channel is ready for, beside the descriptor. */
    void listenAlsoTo(ReadinessSource next) throws IOException {
        listenTo(next, false);
    }

    /** From now on {@code next} tells what the channel is ready for, and not the descriptor. */
    void listenTo(ReadinessSource next, long spinNanos) throws IOException {
        listenTo(next, true);
        input.waitBy(new ReadinessWaiting(next, SocketCalls.POLLIN, spinNanos));
        output.waitBy(new ReadinessWaiting(next, SocketCalls.POLLOUT, spinNanos));
    }

    /** From now on the descriptor tells again, alone. */
    void listenToDescriptor() throws IOException {
        listenTo(null, false);
        input.waitByDescriptor();
        output.waitByDescriptor();
    }

    private void listenTo(@Nullable ReadinessSource next, boolean alone) throws IOException {
        call(() -> {
            for (var registration : registrations) {
                if (source != null) {
                    source.remove(registration.told());
                }
            }
            source = next;
            sourceIsAlone = alone;
            for (var registration : registrations) {
                ask(registration);
                if (next != null) {
                    next.add(registration.told());
                    registration.told().run();
                }
            }
            return null;
        });
    }

    /**
     * Puts another socket in place of this one, under its number, when neither is connected; what
     * selectors want of it they want of the new one.
     */
    void replace(int other) throws IOException {
        call(() -> {
            for (var registration : registrations) {
                registration.listenNoMore(descriptor);
            }
            SocketFailure.check(SocketCalls.replace(other, descriptor));
            SocketCalls.close(other);
            for (var registration : registrations) {
                ask(registration);
            }
            return null;
        });
    }

    /**
     * Ends the descriptor, after all waits on it. Does not wait for anything else, but where the
     * program has asked for that by SO_LINGER.
     */
    void close() throws IOException {
        gate.lock();
        try {
            closed = true;
            input.wake();
            output.wake();
            while (inside > 0) {
                allHaveLeft.awaitUninterruptibly();
            }
            input.release();
            output.release();
            for (var registration : registrations) {
                registration.listenNoMore(descriptor);
                if (source != null) {
                    source.remove(registration.told());
                }
            }
            registrations.clear();
        } finally {
            gate.unlock();
        }
        if (lingers) { // a selector that asks about this channel need not wait as well
            PlatformCalls.call(() -> SocketCalls.close(descriptor));
        } else {
            SocketCalls.close(descriptor);
        }
    }
}
