package org.jrdma.sockets.channel;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.internal.DescriptorWaiting;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.Waiting;

/**
 * One direction of a channel. One thread at a time operates on it, under the lock: it {@linkplain
 * #enter enters}, makes calls that do not wait for as long as {@link #retry} returns true, and
 * {@linkplain #leave leaves}. An operation on a blocking channel is repeated until it succeeds, the
 * deadline passes, the channel is closed, or the thread is interrupted, which closes the channel.
 */
final class Direction {

    private final Endpoint endpoint;
    private final DescriptorWaiting byDescriptor;
    private volatile Waiting waiting;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock
    private boolean blocking;
    private boolean started;
    private boolean inside;

    Direction(Endpoint endpoint, int events) {
        this.endpoint = endpoint;
        this.byDescriptor = new DescriptorWaiting(endpoint.descriptor(), events);
        this.waiting = byDescriptor;
    }

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    /**
     * Starts an operation, with the lock held. {@link #leave} follows in any case.
     *
     * @param blocks whether the channel is in blocking mode
     * @return false if a blocking channel is closed: then the descriptor must not be used
     * @throws AsynchronousCloseException if another channel is closed
     */
    boolean enter(boolean blocks) throws AsynchronousCloseException {
        blocking = blocks;
        started = true;
        inside = endpoint.enter();
        if (!inside && !blocks) {
            throw new AsynchronousCloseException();
        }
        return inside;
    }

    /**
     * Ends the operation, if one was started, with the lock held.
     *
     * @return whether the operation was one that may wait
     */
    boolean leave() {
        if (inside) {
            inside = false;
            endpoint.leave();
        }
        var waits = started && blocking;
        started = false;
        return waits;
    }

    /** Whether the operation in progress may wait. */
    boolean isBlocking() {
        return blocking;
    }

    /** Like {@link #retry(int, Deadline, String)} without a deadline. */
    boolean retry(int result) throws IOException {
        return retry(result, Deadline.NEVER, "");
    }

    /**
     * Decides whether to make a call again. On a blocking channel, waits before that until the call
     * may succeed.
     *
     * @param result what the call returned
     * @throws SocketTimeoutException with {@code message} if the deadline passed first
     */
    boolean retry(int result, Deadline deadline, String message) throws IOException {
        if (result == -Errno.EINTR) {
            return true; // a signal for another thread
        }
        if (result != SocketCalls.AGAIN || !blocking || !endpoint.channel().isOpen()) {
            return false;
        }
        if (!waiting.await(deadline)) {
            throw new SocketTimeoutException(message);
        }
        return true;
    }

    /**
     * Replaces the way of waiting. Called by a thread that is inside, so that a concurrent close
     * either ends the new wait or is seen.
     */
    void waitBy(Waiting other) {
        waiting = other;
    }

    /** Waits for the descriptor from now on. */
    void waitByDescriptor() {
        waiting = byDescriptor;
    }

    /** Ends one wait for the descriptor, because something else has happened. */
    void nudge() {
        byDescriptor.nudge();
    }

    /** Ends the current wait, because the channel is closed. */
    void wake() {
        waiting.end();
    }

    /** Releases what waits used. No thread waits any more, and the descriptor is still open. */
    void release() {
        byDescriptor.release();
    }
}
