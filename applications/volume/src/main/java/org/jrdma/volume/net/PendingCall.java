package org.jrdma.volume.net;

import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jspecify.annotations.Nullable;

/** A call that waits for its reply. */
final class PendingCall {

    private final FrameHeader request;
    private final @Nullable BulkData bulk;
    private final CompletableFuture<ByteBuffer> reply = new CompletableFuture<>();
    private boolean finished;
    private boolean abandoned;

    PendingCall(FrameHeader request, @Nullable BulkData bulk) {
        this.request = request;
        this.bulk = bulk;
    }

    FrameHeader request() {
        return request;
    }

    /** The bulk data of the call; null if it has none. */
    @Nullable BulkData bulk() {
        return bulk;
    }

    /**
     * Waits for the reply.
     *
     * @throws RequestFailedException if the handler of the peer failed
     * @throws ConnectionLostException if the connection ended
     */
    ByteBuffer await(Deadline deadline, Object connection)
            throws FabricException, InterruptedIOException {
        try {
            return reply.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            abandon();
            throw deadline.missed("No reply over " + connection);
        } catch (InterruptedException e) {
            abandon();
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for a reply");
        } catch (ExecutionException e) {
            // The exception was created on another thread.
            throw e.getCause() instanceof RequestFailedException failure
                    ? new RequestFailedException(String.valueOf(failure.getMessage()))
                    : new ConnectionLostException(e.getCause().getMessage(), e.getCause());
        }
    }

    private synchronized void abandon() {
        if (!finished && !abandoned && bulk != null) {
            abandoned = true;
            bulk.buffer().abandon();
        }
    }

    /** Releases the buffer of the call. Called once, when the peer no longer accesses it. */
    synchronized void finish() {
        finished = true;
        if (bulk != null) {
            bulk.buffer().end(abandoned);
        }
    }

    void complete(ByteBuffer message) {
        reply.complete(message);
    }

    void fail(FabricException cause) {
        reply.completeExceptionally(cause);
    }
}
