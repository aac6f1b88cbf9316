package org.jrdma.sockets;

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
 * One direction of a channel. One thread at a time tries something there, under the lock; if the
 * channel is a blocking one it waits and tries again, until it is done, the deadline has passed,
 * the channel is closed, or the thread is interrupted, which closes the channel.
 */
final class Side {

    /** What is tried: answers a result, or the negative errno. It must not wait. */
    @FunctionalInterface
    interface Attempt {
        int make() throws IOException;
    }

    private final Endpoint endpoint;
    private final DescriptorWaiting byDescriptor;
    private volatile Waiting waiting;
    private final ReentrantLock lock = new ReentrantLock();

    Side(Endpoint endpoint, int events) {
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

    /** As {@link #attempt(Attempt, Deadline, String)} without a deadline. */
    int attempt(Attempt attempt) throws IOException {
        return attempt(attempt, Deadline.NEVER, "");
    }

    /**
     * Tries, with the lock held.
     *
     * @return the result, or the negative errno; {@link SocketCalls#AGAIN} only of a channel that
     *     does not block
     * @throws SocketTimeoutException with the message {@code late} if the deadline passed first
     */
    int attempt(Attempt attempt, Deadline deadline, String late) throws IOException {
        return endpoint.channel().isBlocking() ? persist(attempt, deadline, late) : once(attempt);
    }

    /**
     * Tries until {@code bytes} are done, or a channel that does not block can do no more.
     *
     * @return how many were done, or the negative errno if none
     */
    long attemptAll(long bytes, Attempt attempt) throws IOException {
        var done = 0L;
        while (done < bytes) {
            int count;
            try {
                count = attempt(attempt);
            } catch (AsynchronousCloseException e) {
                if (done > 0) {
                    return done; // some have gone; whoever writes the rest will be told
                }
                throw e;
            }
            if (count < 0) {
                return done > 0 ? done : count;
            }
            done += count;
        }
        return done;
    }

    private int persist(Attempt attempt, Deadline deadline, String late) throws IOException {
        var result = SocketCalls.AGAIN;
        endpoint.begin(); // before it counts as inside: an interrupt that is pending closes here
        try {
            if (endpoint.enter()) {
                try {
                    result = uninterrupted(attempt);
                    while (result == SocketCalls.AGAIN && endpoint.channel().isOpen()) {
                        if (!waiting.await(deadline)) {
                            throw new SocketTimeoutException(late);
                        }
                        result = uninterrupted(attempt);
                    }
                } finally {
                    endpoint.leave();
                }
            }
        } finally {
            endpoint.end(result > 0);
        }
        return result;
    }

    private int once(Attempt attempt) throws IOException {
        if (!endpoint.enter()) {
            throw new AsynchronousCloseException();
        }
        try {
            return uninterrupted(attempt);
        } finally {
            endpoint.leave();
        }
    }

    /** A signal for another thread is no reason to give up. */
    private static int uninterrupted(Attempt attempt) throws IOException {
        int result;
        do {
            result = attempt.make();
        } while (result == -Errno.EINTR);
        return result;
    }

    /** How to wait from now on. For who is inside; a close that comes now sees it, or is seen. */
    void waitBy(Waiting other) {
        waiting = other;
    }

    /** From now on waits for the descriptor again. */
    void waitByDescriptor() {
        waiting = byDescriptor;
    }

    /** Ends one wait for the descriptor: something else has happened. */
    void nudge() {
        byDescriptor.nudge();
    }

    /** Ends the wait that there is, because the channel is closed. */
    void wake() {
        waiting.end();
    }

    /** When nobody waits here any more, and before the descriptor is closed. */
    void release() {
        byDescriptor.release();
    }
}
