package org.jrdma.sockets.channel;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.channels.AsynchronousCloseException;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.internal.BlockingReceiveCall;
import org.jrdma.sockets.internal.DescriptorWaiting;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.Waiting;

/**
 * One direction of a channel: input or output.
 *
 * <p>One thread at a time performs an operation, such as a read, while it holds the lock of the
 * direction. The thread calls {@link #enter}, repeats a non-blocking system call as long as {@link
 * #retry} returns true, and calls {@link #leave}. On a blocking channel, the call is repeated until
 * it succeeds, the deadline passes, or the channel is closed. An interrupt of the thread closes the
 * channel.
 */
final class DirectionGuard {

    private final ChannelDescriptor endpoint;
    private final DescriptorWaiting byDescriptor;
    private final BlockingReceiveCall blockingReceive;
    private volatile Waiting waiting;
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock
    private boolean blocking;
    private boolean started;
    private boolean entered;

    DirectionGuard(ChannelDescriptor endpoint, int events) {
        this.endpoint = endpoint;
        this.byDescriptor = new DescriptorWaiting(endpoint.descriptor(), events);
        this.blockingReceive = new BlockingReceiveCall(endpoint.descriptor());
        this.waiting = byDescriptor;
    }

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    /**
     * Starts an operation. The caller holds the lock, and must call {@link #leave} afterwards, even
     * if this method throws.
     *
     * @param blocks true if the channel is in blocking mode
     * @return false if the channel is blocking and closed; the descriptor must then not be used
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
     * Ends the operation that {@link #enter} has started. Does nothing if no operation was started.
     * The caller holds the lock.
     *
     * @return true if the operation was started in blocking mode
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

    /** Returns true if the current operation was started in blocking mode. */
    boolean isBlocking() {
        return blocking;
    }

    /** Returns true if the current operation may use {@link #blockingReceive()}. */
    boolean canBlockInKernel(Deadline deadline) {
        return blocking
                && deadline.equals(Deadline.NEVER)
                && waiting == byDescriptor
                && !Thread.currentThread().isVirtual();
    }

    /** Returns the object that waits for bytes. A close of the channel ends the wait. */
    BlockingReceiveCall blockingReceive() {
        return blockingReceive;
    }

    /**
     * Returns true if a system call must be repeated, like {@link #retry(int, Deadline, String)},
     * but waits without a deadline.
     */
    boolean retry(int result) throws IOException {
        return retry(result, Deadline.NEVER, "");
    }

    /**
     * Returns true if a system call must be repeated. On a blocking channel, first waits until the
     * call may succeed.
     *
     * @param result the result of the call
     * @return true if the caller must repeat the call
     * @throws SocketTimeoutException with the message {@code message} if the deadline passes
     */
    boolean retry(int result, Deadline deadline, String message) throws IOException {
        if (result == -Errno.EINTR) {
            return true; // A signal has interrupted the call.
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
     * Changes how the threads of this direction wait. A close that happens at the same time either
     * ends the wait through the new object, or {@link #retry} finds the channel closed before it
     * waits.
     */
    void waitBy(Waiting next) {
        waiting = next;
    }

    /** Reverts {@link #waitBy}: threads wait for the descriptor again. */
    void waitByDescriptor() {
        waiting = byDescriptor;
    }

    /**
     * Ends the current wait for the descriptor, because another source may be ready for the
     * operation.
     */
    void wakeUpOnce() {
        byDescriptor.wakeUpOnce();
    }

    /** Ends the current wait and all later waits, because the channel is closed. */
    void wake() {
        waiting.end();
        blockingReceive.end();
    }

    /**
     * Releases the resources by which threads wait. Called before the descriptor is closed, when no
     * thread is waiting.
     */
    void release() {
        byDescriptor.release();
    }
}
