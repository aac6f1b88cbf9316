package org.jrdma.sockets.bypass;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.sockets.internal.ReadinessSource;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection attempt over a transport without a kernel socket. It runs on a separate thread. As a
 * {@link ReadinessSource}, the attempt becomes ready when it has ended, successfully or not.
 */
public abstract class BypassConnector extends ReadinessSource {

    /** The time after which an attempt fails if the peer does not respond. */
    public static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(BypassConnector.class);

    private final Executor threads;
    private final Consumer<String> onFailure;

    private @Nullable BypassStream stream;
    private String reason = "";
    private boolean done;
    private boolean abandoned;

    /**
     * Creates an attempt, which does nothing before {@link #start}.
     *
     * @param threads the executor on whose thread the attempt runs and may block
     * @param onFailure receives the reason if the attempt fails. It is called on the thread of the
     *     attempt, before {@link #isDone} returns true.
     */
    protected BypassConnector(Executor threads, Consumer<String> onFailure) {
        this.threads = threads;
        this.onFailure = onFailure;
    }

    /**
     * Starts the attempt. Does not block. If no thread can be started, the attempt fails.
     *
     * @param deadline computes the deadline of the attempt. Called when a thread of the executor
     *     starts the attempt, so that waiting for a thread does not count towards the timeout.
     */
    public final void start(Supplier<Deadline> deadline) {
        try {
            threads.execute(() -> run(deadline));
        } catch (Throwable e) {
            if (isDone()) {
                throw e; // The attempt has run on this thread.
            }
            fail(e);
        }
    }

    private void run(Supplier<Deadline> deadline) {
        try {
            complete(connect(deadline.get()), "");
        } catch (Throwable e) {
            // Errors also end the attempt, because another thread may be waiting for its end.
            fail(e);
        }
    }

    private void fail(Throwable failure) {
        var why = "internal error"; // if the lack of memory prevents a better reason
        try {
            if (failure instanceof Error) {
                FailureLog.error(
                        LOG,
                        "Could not connect over a kernel bypass because of an internal error",
                        failure);
            }
            why = failure.getMessage() == null ? failure.toString() : failure.getMessage();
            onFailure.accept(why);
        } finally {
            complete(null, why);
        }
    }

    /**
     * Connects to the peer. Called on the thread of the attempt. Blocks at most until the deadline,
     * and fails earlier if the peer does not respond for {@link #TIMEOUT}.
     *
     * @throws IOException if the attempt fails; the message is the reason
     */
    protected abstract BypassStream connect(Deadline deadline) throws IOException;

    private void complete(@Nullable BypassStream connected, String why) {
        synchronized (this) {
            stream = connected;
            reason = why;
            done = true;
            if (abandoned) {
                abandon();
            }
        }
        wakeUp();
    }

    /** Wakes up the threads that wait for the end. Repeats this until there is enough memory. */
    private void wakeUp() {
        while (true) {
            try {
                changed();
                return;
            } catch (OutOfMemoryError e) {
                FailureLog.errorAndPause(
                        LOG, "Reporting the end of an attempt to connect is repeated", e);
            }
        }
    }

    /** Returns true if the attempt has ended. */
    public final synchronized boolean isDone() {
        return done;
    }

    /** Returns the reason why the attempt has failed; empty if it has not failed. */
    public final synchronized String reason() {
        return reason;
    }

    /**
     * Returns the stream of a successful attempt, which the caller then owns. Empty if there is no
     * stream, or if a caller has taken the stream before.
     */
    public final synchronized Optional<BypassStream> take() {
        var taken = stream;
        stream = null;
        return Optional.ofNullable(taken);
    }

    /**
     * Gives up the attempt. If the attempt has established a stream, or establishes it later, the
     * stream is closed.
     */
    public final synchronized void abandon() {
        abandoned = true;
        take().ifPresent(unwanted -> unwanted.close(true));
    }

    protected final synchronized boolean isAbandoned() {
        return abandoned;
    }

    @Override
    public final int ready() {
        return isDone() ? SocketCalls.POLLOUT : 0;
    }

    @Override
    // The source calls changed() at the end of each attempt without being armed.
    protected final void arm(int events, boolean parks) {}
}
