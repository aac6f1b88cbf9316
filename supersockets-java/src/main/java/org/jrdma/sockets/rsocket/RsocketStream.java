package org.jrdma.sockets.rsocket;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.bypass.BypassStream;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;

/**
 * One end of a stream over a connected rsocket.
 *
 * <p>The library allows one thread to send, one to receive, and others to poll at the same time. It
 * allows no other call during a shutdown, which waits for the peer. The stream therefore reports no
 * readiness meanwhile.
 */
final class RsocketStream extends BypassStream implements RsocketPoller.Watched {

    private static final int BOTH = SocketCalls.POLLIN | SocketCalls.POLLOUT;
    private static final int ENDED = RsocketCalls.POLLERR | RsocketCalls.POLLHUP;

    /** The time to wait for a free slot in the send queue to send the disconnect message. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long MAX_PAUSE_NANOS = 50_000_000;

    private final RsocketFabric fabric;
    private final int number;
    private final InetSocketAddress local;

    /** The disconnect messages of both ends. */
    private final DisconnectExchange disconnect;

    /** A read lock for each use of the rsocket, and a write lock for its shutdown and close. */
    private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

    private volatile boolean inputEnded;
    private volatile boolean outputEnded;

    /** True if the failure was reported to the program. Like the kernel, reports it once. */
    private volatile boolean failureReported;

    /** Guarded by {@code use}. */
    private boolean closed;

    /** The last of the steps that close the stream. */
    private CompletableFuture<Void> closing = CompletableFuture.completedFuture(null);

    RsocketStream(RsocketFabric fabric, int number) {
        this.fabric = fabric;
        this.number = number;
        this.local = fabric.calls().localName(number);
        this.disconnect = new DisconnectExchange(fabric.calls(), number);
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public Optional<InetSocketAddress> localAddress() {
        return Optional.of(local);
    }

    @Override
    public void eventOccurred() {
        changed();
    }

    @FunctionalInterface
    private interface Call {
        int make();
    }

    /** Makes a call; returns {@code otherwise} during a shutdown and after the close. */
    private int use(int otherwise, Call call) {
        if (!use.readLock().tryLock()) {
            return otherwise;
        }
        try {
            return closed ? otherwise : call.make();
        } finally {
            use.readLock().unlock();
        }
    }

    private int state(int events) {
        return use(0, () -> fabric.calls().ready(number, events));
    }

    @Override
    public int ready() {
        var events = state(BOTH);
        return ((events & ENDED) != 0 ? BOTH : events & BOTH)
                | (inputEnded ? SocketCalls.POLLIN : 0)
                | (outputEnded ? SocketCalls.POLLOUT : 0);
    }

    @Override
    protected void arm(int events) {
        fabric.poller().watch(this, events);
    }

    @Override
    public int available() {
        try (var scratch = Scratch.take()) {
            var bytes = scratch.bytes();
            return Math.max(0, use(0, () -> fabric.calls().peek(number, bytes, bytes.byteSize())));
        }
    }

    @Override
    public int receive(MemorySegment target, long maxBytes) {
        var count = use(SocketCalls.AGAIN, () -> fabric.calls().receive(number, target, maxBytes));
        if (count > 0) {
            return count;
        }
        if (count == SocketCalls.AGAIN) {
            return inputEnded ? 0 : SocketCalls.AGAIN;
        }
        return count == 0 && endedInOrder() ? 0 : failed(-Errno.ECONNRESET);
    }

    /** Returns true if the stream ended in order. Called when there is nothing left to receive. */
    private boolean endedInOrder() {
        // read first, because the peer's message precedes the event
        var events = state(SocketCalls.POLLIN);
        var word = disconnect.received();
        if (word != 0) {
            return word == DisconnectExchange.ENDED;
        }
        return (events & (disconnect.agreed() ? ENDED : RsocketCalls.POLLERR)) == 0;
    }

    /**
     * Sends bytes. Checks the state first, because the library accepts bytes for a peer that has
     * disconnected.
     */
    @Override
    public int send(MemorySegment source, long bytes) {
        if (outputEnded) {
            return -Errno.EPIPE;
        }
        var events = state(SocketCalls.POLLOUT);
        if ((events & ENDED) == 0) {
            var count = use(SocketCalls.AGAIN, () -> fabric.calls().send(number, source, bytes));
            if (count >= 0 || count == SocketCalls.AGAIN) {
                return count;
            }
            events = state(SocketCalls.POLLOUT);
        }
        var hasDisconnected =
                disconnect.agreed()
                        ? disconnect.received() == DisconnectExchange.ENDED
                        : (events & RsocketCalls.POLLHUP) != 0;
        return hasDisconnected || failureReported ? -Errno.EPIPE : failed(-Errno.ECONNRESET);
    }

    private int failed(int errno) {
        failureReported = true;
        return errno;
    }

    @Override
    public void shutdownInput() {
        inputEnded = true;
        changed();
    }

    @Override
    public void shutdownOutput() {
        outputEnded = true;
        changed();
        addClosingStep(
                () -> DisconnectExchange.ENDED,
                () -> fabric.calls().shutdown(number, SocketCalls.SHUT_WR));
    }

    /** Closes the stream. Unread bytes turn the close into a reset, as with TCP. */
    @Override
    public void close(boolean reset) {
        addClosingStep(
                () -> {
                    var unread = !inputEnded && available() != 0;
                    return reset || unread ? DisconnectExchange.RESET : DisconnectExchange.ENDED;
                },
                () -> {
                    closed = true;
                    fabric.poller().forget(this);
                    disconnect.end();
                    fabric.close(number);
                });
    }

    /**
     * Adds a step of the close: sends a message, then runs {@code step} while no other thread uses
     * the rsocket.
     */
    private synchronized void addClosingStep(LongSupplier message, Runnable step) {
        closing =
                closing.thenComposeAsync(
                                _ ->
                                        sendDisconnect(
                                                message.getAsLong(),
                                                Deadline.after(TIMEOUT),
                                                FIRST_PAUSE_NANOS),
                                fabric.closers())
                        .thenRunAsync(() -> runExclusively(step), fabric.closers());
    }

    /**
     * Sends the disconnect message when the send queue has a free slot.
     *
     * <p>Does not block a thread while it waits, because there may be many such peers. If the peer
     * receives nothing until the deadline, the message is dropped, and the peer sees a failure.
     */
    private CompletableFuture<Void> sendDisconnect(
            long message, Deadline deadline, long pauseNanos) {
        if ((state(SocketCalls.POLLOUT) & ENDED) != 0
                || use(1, () -> disconnect.send(message) ? 1 : 0) != 0
                || deadline.hasPassed()) {
            return CompletableFuture.completedFuture(null);
        }
        var later =
                CompletableFuture.delayedExecutor(
                        pauseNanos, TimeUnit.NANOSECONDS, fabric.closers());
        var nextPause = Math.min(2 * pauseNanos, MAX_PAUSE_NANOS);
        return CompletableFuture.runAsync(() -> {}, later)
                .thenCompose(_ -> sendDisconnect(message, deadline, nextPause));
    }

    private void runExclusively(Runnable step) {
        use.writeLock().lock();
        try {
            fabric.poller().suspend(this);
            step.run();
            fabric.poller().resume(this);
        } finally {
            use.writeLock().unlock();
        }
        changed(); // threads that saw no readiness during the step check again
    }
}
