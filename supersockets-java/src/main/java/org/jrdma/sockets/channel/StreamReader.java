package org.jrdma.sockets.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketException;
import java.nio.ByteBuffer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;

/**
 * Reads from a stream. One thread at a time reads, while it holds the lock of the input direction.
 */
final class StreamReader {

    private static final int END = -1;

    private final StreamConnection connection;
    private final DirectionGuard direction;
    private volatile boolean shut;

    /**
     * True after the connection was reset. The kernel reports a reset once, but a channel must
     * report it in each read.
     */
    private volatile boolean reset;

    StreamReader(StreamConnection connection, DirectionGuard direction) {
        this.connection = connection;
        this.direction = direction;
    }

    /**
     * Returns true if a read can return bytes. Returns false if the program's buffers have no space
     * or the input was shut down.
     *
     * @param bytes the space in the program's buffers
     * @throws SocketException if the connection was reset
     */
    boolean canRead(long bytes) throws SocketException {
        if (reset) {
            throw new SocketException("Connection reset");
        }
        return bytes > 0 && !shut;
    }

    int read(ByteBuffer target, Deadline deadline) throws IOException {
        if (target.isDirect() && direction.canBlockInKernel(deadline)) {
            var received =
                    direction
                            .blockingReceive()
                            .receive(MemorySegment.ofBuffer(target), target.remaining());
            if (received != SocketCalls.AGAIN && received != -Errno.EINTR) {
                BufferTransfers.advance(target, received);
                return received;
            }
        }
        int count;
        do {
            count = BufferTransfers.receive(connection.stream(), target);
        } while (direction.retry(count, deadline, "Read timed out"));
        return count;
    }

    int read(ByteBuffer[] targets, int from, int end) throws IOException {
        int count;
        do {
            count = BufferTransfers.receive(connection.stream(), targets, from, end);
        } while (direction.retry(count));
        return count;
    }

    int read(MemorySegment target) throws IOException {
        int count;
        do {
            count = connection.stream().receive(target, target.byteSize());
        } while (direction.retry(count));
        return count;
    }

    /**
     * Converts the result of a receive call to the return value of a channel, and counts the bytes:
     * 0 (the end of the stream) becomes -1, EAGAIN becomes 0, and other failures become exceptions.
     */
    int finish(int count) throws IOException {
        if (count > 0) {
            connection.report().addReceived(count);
            return count;
        }
        if (count == 0 || shut) {
            return END;
        }
        return switch (-count) {
            case Errno.EAGAIN -> 0;
            case Errno.ECONNRESET, Errno.EPIPE -> {
                reset = true;
                throw new SocketException("Connection reset");
            }
            default -> throw SocketFailure.ofTransfer(-count);
        };
    }

    int available() throws IOException {
        return shut ? 0 : SocketFailure.check(connection.stream().available());
    }

    void shutdown() throws IOException {
        if (!shut) {
            connection.stream().shutdownInput();
            shut = true;
        }
    }

    boolean isShut() {
        return shut;
    }
}
