package org.jrdma.sockets.rsocket;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.sockets.bypass.BypassStream;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.ThreadParker;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a stream over a connected rsocket.
 *
 * <p>The library allows one thread to send, one thread to receive, and other threads to poll at the
 * same time. But during rshutdown, which waits for the peer, it allows no other call for the
 * rsocket. During an rshutdown, the stream therefore makes no other call, and reports that the
 * rsocket has no events.
 */
final class RsocketStream extends BypassStream implements RsocketPoller.Watched {

    private static final Logger LOG = LoggerFactory.getLogger(RsocketStream.class);
    private static final int BOTH = SocketCalls.POLLIN | SocketCalls.POLLOUT;
    private static final int ENDED = RsocketCalls.POLLERR | RsocketCalls.POLLHUP;

    /** The time for which the disconnect message waits for space in the send queue. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long MAX_PAUSE_NANOS = 50_000_000;

    private final RsocketRuntime runtime;
    private final int number;
    private final InetSocketAddress local;

    private final DisconnectExchange disconnect;

    /**
     * The read lock is held by each use of the rsocket, the write lock by a shutdown and the close.
     */
    private final ReentrantReadWriteLock use = new ReentrantReadWriteLock();

    private volatile boolean inputEnded;
    private volatile boolean outputEnded;

    /**
     * True if a failure was reported to the program. Like a socket of the kernel, the stream
     * reports a failure to one send; later sends fail with EPIPE.
     */
    private volatile boolean failureReported;

    /** Guarded by {@code use}. */
    private boolean closed;

    /** The future of the last closing step that was added; see {@link #addClosingStep}. */
    private CompletableFuture<Void> closing = CompletableFuture.completedFuture(null);

    RsocketStream(RsocketRuntime runtime, int number) {
        this.runtime = runtime;
        this.number = number;
        this.local = runtime.calls().localName(number);
        this.disconnect = new DisconnectExchange(runtime.calls(), number);
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

    /**
     * Calls a function of the rsocket and returns its result. During a shutdown and after the
     * close, returns {@code otherwise} without calling it.
     */
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

    /**
     * Returns the events of {@code events} for which the rsocket is ready, and POLLERR or POLLHUP.
     * Returns 0 during a shutdown and after the close.
     */
    private int state(int events) {
        return use(0, () -> runtime.calls().ready(number, events));
    }

    @Override
    public int ready() {
        var events = state(BOTH);
        return ((events & ENDED) != 0 ? BOTH : events & BOTH)
                | (inputEnded ? SocketCalls.POLLIN : 0)
                | (outputEnded ? SocketCalls.POLLOUT : 0);
    }

    @Override
    protected ThreadParker parker(int events) {
        return runtime.poller().parker(this, events);
    }

    @Override
    protected void arm(int events, boolean parks) {
        if (!parks) { // otherwise, the parker watches this stream
            runtime.poller().watch(this, events);
        }
    }

    @Override
    public int available() {
        try (var scratch = Scratch.take()) {
            var bytes = scratch.bytes();
            return Math.max(0, use(0, () -> runtime.calls().peek(number, bytes, bytes.byteSize())));
        }
    }

    @Override
    public int receive(MemorySegment target, long maxBytes) {
        var count = use(SocketCalls.AGAIN, () -> runtime.calls().receive(number, target, maxBytes));
        if (count > 0) {
            return count;
        }
        if (count == SocketCalls.AGAIN) {
            return inputEnded ? 0 : SocketCalls.AGAIN;
        }
        return count == 0 && endedInOrder() ? 0 : failed(-Errno.ECONNRESET);
    }

    /**
     * Returns true if the peer has closed the stream and all of its bytes were received. Called
     * when there are no more bytes to receive.
     */
    private boolean endedInOrder() {
        // The state is read before the peer's message, because the message arrives before the
        // disconnect event.
        var events = state(SocketCalls.POLLIN);
        var word = disconnect.received();
        if (word != 0) {
            return word == DisconnectExchange.ENDED;
        }
        return (events & (disconnect.agreed() ? ENDED : RsocketCalls.POLLERR)) == 0;
    }

    /**
     * Sends bytes. Checks the state of the connection first, because the library accepts bytes for
     * a peer that has disconnected.
     */
    @Override
    public int send(MemorySegment source, long bytes) {
        if (outputEnded) {
            return -Errno.EPIPE;
        }
        var events = state(SocketCalls.POLLOUT);
        if ((events & ENDED) == 0) {
            var count = use(SocketCalls.AGAIN, () -> runtime.calls().send(number, source, bytes));
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
                () -> runtime.calls().shutdown(number, SocketCalls.SHUT_WR));
    }

    /** Closes the stream. If bytes were not read, the peer sees a reset, as with TCP. */
    @Override
    public void close(boolean reset) {
        addClosingStep(
                () -> {
                    var unread = !inputEnded && available() != 0;
                    return reset || unread ? DisconnectExchange.RESET : DisconnectExchange.ENDED;
                },
                () -> {
                    closed = true;
                    runtime.poller().forget(this);
                    disconnect.end();
                    runtime.close(number);
                });
    }

    /**
     * Adds a step of the shutdown or the close, which runs after the previous steps on a thread of
     * the {@link RsocketRuntime}.
     *
     * @param message returns the message that is sent to the peer first
     * @param step runs afterwards, while no other thread uses the rsocket
     */
    private synchronized void addClosingStep(LongSupplier message, Runnable step) {
        closing =
                afterwards(
                        closing,
                        () ->
                                sendDisconnect(
                                        message.getAsLong(),
                                        Deadline.after(TIMEOUT),
                                        FIRST_PAUSE_NANOS),
                        () -> runExclusively(step),
                        runtime.closers());
    }

    /**
     * Runs {@code step} after {@code previous} and {@code message}, even if they fail: otherwise, a
     * failure of a shutdown would prevent the close. The returned future does not fail.
     */
    static CompletableFuture<Void> afterwards(
            CompletableFuture<Void> previous,
            Supplier<CompletableFuture<Void>> message,
            Runnable step,
            Executor executor) {
        return previous.thenComposeAsync(_ -> message.get(), executor)
                .handleAsync(
                        (_, failure) -> {
                            if (failure != null) {
                                FailureLog.error(LOG, "Could not notify the peer", failure);
                            }
                            try {
                                step.run();
                            } catch (Throwable e) {
                                FailureLog.error(LOG, "Could not shut down an rsocket", e);
                            }
                            return null;
                        },
                        executor);
    }

    /**
     * Sends the disconnect message when the send queue has space.
     *
     * <p>While the message waits, it occupies no thread, because many peers may be slow at the same
     * time. If the send queue has no space before the deadline, the message is dropped, and the
     * peer sees a failure of the stream.
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
                        pauseNanos, TimeUnit.NANOSECONDS, runtime.closers());
        var nextPause = Math.min(2 * pauseNanos, MAX_PAUSE_NANOS);
        return CompletableFuture.runAsync(() -> {}, later)
                .thenCompose(_ -> sendDisconnect(message, deadline, nextPause));
    }

    private void runExclusively(Runnable step) {
        use.writeLock().lock();
        try {
            runtime.poller().suspend(this);
            try {
                step.run();
            } finally {
                runtime.poller().resume(this);
            }
        } finally {
            use.writeLock().unlock();
        }
        changed(); // Threads that saw no events during the step must check again.
    }
}
