package org.jrdma.sockets.bypass;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.internal.ReadinessSource;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection attempt over a kernel bypass, on a thread of its own. Ready when it has completed:
 * with a stream, or with the reason of its failure.
 */
public abstract class BypassConnector extends ReadinessSource {

    /** The time to wait for a peer that does not respond. */
    public static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(BypassConnector.class);

    private final Executor threads;
    private final Consumer<String> onFailure;

    private @Nullable BypassStream stream;
    private String reason = "";
    private boolean done;
    private boolean abandoned;

    /**
     * @param threads runs the blocking attempt
     * @param onFailure receives the reason of a failure, on such a thread, before the attempt is
     *     completed
     */
    protected BypassConnector(Executor threads, Consumer<String> onFailure) {
        this.threads = threads;
        this.onFailure = onFailure;
    }

    /**
     * Starts the attempt. Does not block.
     *
     * @param deadline returns the deadline of the attempt. It is called on the thread of the
     *     attempt, so that the time during which the attempt waits for a thread does not count as
     *     time that the peer needs.
     */
    public final void start(Supplier<Deadline> deadline) {
        threads.execute(() -> {
            try {
                complete(connect(deadline.get()), "");
            } catch (Throwable e) { // completed in any case, because a caller may be waiting
                fail(e);
            }
        });
    }

    private void fail(Throwable failure) {
        if (failure instanceof Error) {
            LOG.error(
                    "Could not connect over a kernel bypass because of an internal error", failure);
        }
        var why = failure.getMessage() == null ? failure.toString() : failure.getMessage();
        try {
            onFailure.accept(why);
        } finally {
            complete(null, why);
        }
    }

    /**
     * Connects. May block, at most until the deadline and for {@link #TIMEOUT}. The message of an
     * exception is the reason of the failure.
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
        changed();
    }

    public final synchronized boolean isDone() {
        return done;
    }

    public final synchronized String reason() {
        return reason;
    }

    /** Returns the stream, which the caller now owns; empty if there is none. */
    public final synchronized Optional<BypassStream> take() {
        var taken = stream;
        stream = null;
        return Optional.ofNullable(taken);
    }

    /** Closes the stream that the attempt has established, or will establish. */
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
    protected final void arm(int events) {} // the completion is reported in any case
}
