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
 * A stream past the kernel that is being connected, on a thread of its own. Ready when there is an
 * outcome: a stream, or a reason why there is none.
 */
public abstract class BypassConnector extends ReadinessSource {

    /** How long to wait for a peer that says nothing. */
    public static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(BypassConnector.class);

    private final Executor threads;
    private final Consumer<String> refused;

    private @Nullable BypassStream stream;
    private String reason = "";
    private boolean done;
    private boolean abandoned;

    /**
     * @param threads for what blocks
     * @param refused told of the reason, on such a thread, before there is an outcome
     */
    protected BypassConnector(Executor threads, Consumer<String> refused) {
        this.threads = threads;
        this.refused = refused;
    }

    /**
     * Begins. Does not block.
     *
     * @param deadline until when the program can wait for this way: asked when a thread has come to
     *     it, since to wait for one, with many others, is not to wait for the peer
     */
    public final void begin(Supplier<Deadline> deadline) {
        threads.execute(() -> {
            try {
                done(connect(deadline.get()), "");
            } catch (Throwable e) { // whatever it is: somebody waits for an outcome
                refuse(e);
            }
        });
    }

    private void refuse(Throwable failure) {
        if (failure instanceof Error) {
            LOG.error("A way past the kernel has failed", failure);
        }
        var why = failure.getMessage() == null ? failure.toString() : failure.getMessage();
        try {
            refused.accept(why);
        } finally {
            done(null, why);
        }
    }

    /**
     * Connects; may block, until the deadline and with {@link #TIMEOUT}. The message of what is
     * thrown is a reason.
     */
    protected abstract BypassStream connect(Deadline deadline) throws IOException;

    private void done(@Nullable BypassStream connected, String why) {
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

    /** Whether there is an outcome. */
    public final synchronized boolean isDone() {
        return done;
    }

    /** Why there is no stream. */
    public final synchronized String reason() {
        return reason;
    }

    /** The stream, which is the caller's from now on; empty if there is none. */
    public final synchronized Optional<BypassStream> take() {
        var taken = stream;
        stream = null;
        return Optional.ofNullable(taken);
    }

    /** Nobody wants the outcome any more. */
    public final synchronized void abandon() {
        abandoned = true;
        take().ifPresent(unwanted -> unwanted.close(true));
    }

    /** Whether nobody wants it. */
    protected final synchronized boolean isAbandoned() {
        return abandoned;
    }

    @Override
    public final int ready() {
        return isDone() ? SocketCalls.POLLOUT : 0;
    }

    @Override
    protected final void arm(int events) {} // the outcome is told in any case
}
