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
 * One direction of a channel, input or output.
 *
 * <p>One thread at a time operates on it, while holding the lock. The thread {@linkplain #enter
 * enters}, makes non-blocking calls as long as {@link #retry} returns true, and {@linkplain #leave
 * leaves}. An operation on a blocking channel is repeated until it succeeds, the deadline passes,
 * the channel is closed, or the thread is interrupted, which closes the channel.
 */
final class Direction {

    private final Endpoint endpoint;
    private final DescriptorWaiting byDescriptor;
    private volatile Waiting waiting;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock
    private boolean blocking;
    private boolean started;
    private boolean entered;

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
     * Starts an operation. The caller holds the lock, and must call {@link #leave} afterwards in
     * any case.
     *
     * @param blocks true if the channel is in blocking mode
     * @return false if the channel is blocking and closed; the descriptor must not be used then
     * @throws AsynchronousCloseException if the channel is non-blocking and closed
     */
    boolean enter(boolean blocks) throws AsynchronousCloseException {
        blocking = blocks;
        started = true;
        entered = endpoint.enter();
        if (!entered && !blocks) {
            throw new AsynchronousCloseException();
        }
        return entered;
    }

    /**
     * Ends the operation, if one was started. The caller holds the lock.
     *
     * @return true if the operation was one that may wait
     */
    boolean leave() {
        if (entered) {
            entered = false;
            endpoint.leave();
        }
        var waits = started && blocking;
        started = false;
        return waits;
    }

    boolean isBlocking() {
        return blocking;
    }

    /** Does the same as {@link #retry(int, Deadline, String)} without a deadline. */
    boolean retry(int result) throws IOException {
        return retry(result, Deadline.NEVER, "");
    }

    /**
     * Decides whether to repeat a call. On a blocking channel, first waits until the call may
     * succeed.
     *
     * @param result the result of the call
     * @throws SocketTimeoutException with {@code message} if the deadline passes
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
     * Replaces the object that waits. Called by a thread that has entered, so that a concurrent
     * close either ends the new wait or is noticed by it.
     */
    void waitBy(Waiting other) {
        waiting = other;
    }

    void waitByDescriptor() {
        waiting = byDescriptor;
    }

    /** Ends one wait for the descriptor, because a bypass may be ready. */
    void wakeUpOnce() {
        byDescriptor.wakeUpOnce();
    }

    void wake() {
        waiting.end();
    }

    /** Releases the resources for waiting. No thread waits, and the descriptor is still open. */
    void release() {
        byDescriptor.release();
    }
}
