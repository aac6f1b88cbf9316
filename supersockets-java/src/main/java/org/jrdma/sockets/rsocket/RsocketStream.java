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
 * <p>The library lets one thread send, one receive and others poll at a time. It does not let
 * anybody do so while an end is shut down, which waits for the peer: so nothing is ready meanwhile.
 */
final class RsocketStream extends BypassStream implements RsocketPoller.Watched {

    private static final int BOTH = SocketCalls.POLLIN | SocketCalls.POLLOUT;
    private static final int OVER = RsocketCalls.POLLERR | RsocketCalls.POLLHUP;

    /** How long to wait for room at the peer to tell it of the end. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 50_000_000;

    private final RsocketFabric fabric;
    private final int number;
    private final InetSocketAddress local;

    /** What this end tells the peer when it ends, and has been told. */
    private final DisconnectExchange disconnect;

    /** Shared by who uses the rsocket, and held alone by who ends it. */
    private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

    private volatile boolean inputEnded;
    private volatile boolean outputEnded;

    /** Whether a program has been told of the failure, as the kernel tells of a reset once. */
    private volatile boolean failureTold;

    /** Guarded by {@code use}. */
    private boolean closed;

    /** The last of what ends it. */
    private CompletableFuture<Void> ending = CompletableFuture.completedFuture(null);

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
    public void happened() {
        changed();
    }

    /** An rsocket call that does not wait. */
    @FunctionalInterface
    private interface Call {
        int make();
    }

    /** Makes a call, or answers {@code meanwhile} while the rsocket is being ended. */
    private int use(int meanwhile, Call call) {
        if (!use.readLock().tryLock()) {
            return meanwhile;
        }
        try {
            return closed ? meanwhile : call.make();
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
        return ((events & OVER) != 0 ? BOTH : events & BOTH)
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
    public int receive(MemorySegment target, long most) {
        var count = use(SocketCalls.AGAIN, () -> fabric.calls().receive(number, target, most));
        if (count > 0) {
            return count;
        }
        if (count == SocketCalls.AGAIN) {
            return inputEnded ? 0 : SocketCalls.AGAIN;
        }
        return count == 0 && endsInOrder() ? 0 : failed(-Errno.ECONNRESET);
    }

    /** Where nothing is left to receive. */
    private boolean endsInOrder() {
        var events = state(SocketCalls.POLLIN); // first: the message comes before
        var word = disconnect.received();
        if (word != 0) {
            return word == DisconnectExchange.ENDED;
        }
        return (events & (disconnect.agreed() ? OVER : RsocketCalls.POLLERR)) == 0;
    }

    /** The library itself takes bytes for a peer that has gone, so that is asked first. */
    @Override
    public int send(MemorySegment source, long bytes) {
        if (outputEnded) {
            return -Errno.EPIPE;
        }
        var events = state(SocketCalls.POLLOUT);
        if ((events & OVER) == 0) {
            var count = use(SocketCalls.AGAIN, () -> fabric.calls().send(number, source, bytes));
            if (count >= 0 || count == SocketCalls.AGAIN) {
                return count;
            }
            events = state(SocketCalls.POLLOUT);
        }
        var hasLeft =
                disconnect.agreed()
                        ? disconnect.received() == DisconnectExchange.ENDED
                        : (events & RsocketCalls.POLLHUP) != 0;
        return hasLeft || failureTold ? -Errno.EPIPE : failed(-Errno.ECONNRESET);
    }

    private int failed(int errno) {
        failureTold = true;
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
        end(
                () -> DisconnectExchange.ENDED,
                () -> fabric.calls().shutdown(number, SocketCalls.SHUT_WR));
    }

    /** Bytes that nobody here has received make it a reset, as with TCP. */
    @Override
    public void close(boolean reset) {
        end(
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

    /** Closes in steps: sends a message, then runs {@code end} while no other thread uses this. */
    private synchronized void end(LongSupplier message, Runnable end) {
        ending =
                ending.thenComposeAsync(
                                _ ->
                                        sendDisconnect(
                                                message.getAsLong(),
                                                Deadline.after(TIMEOUT),
                                                FIRST_PAUSE_NANOS),
                                fabric.closers())
                        .thenRunAsync(() -> alone(end), fabric.closers());
    }

    /**
     * Waits until the peer has room to be told, on no thread: there may be many such peers. Without
     * that, it takes the end for a failure, which it is for a peer that receives nothing for so
     * long.
     */
    private CompletableFuture<Void> sendDisconnect(
            long message, Deadline deadline, long pauseNanos) {
        if ((state(SocketCalls.POLLOUT) & OVER) != 0
                || use(1, () -> disconnect.send(message) ? 1 : 0) != 0
                || deadline.hasPassed()) {
            return CompletableFuture.completedFuture(null);
        }
        var later =
                CompletableFuture.delayedExecutor(
                        pauseNanos, TimeUnit.NANOSECONDS, fabric.closers());
        var nextPause = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        return CompletableFuture.runAsync(() -> {}, later)
                .thenCompose(_ -> sendDisconnect(message, deadline, nextPause));
    }

    private void alone(Runnable end) {
        use.writeLock().lock();
        try {
            fabric.poller().suspend(this);
            end.run();
            fabric.poller().resume(this);
        } finally {
            use.writeLock().unlock();
        }
        changed(); // whoever has found nothing meanwhile looks again
    }
}
