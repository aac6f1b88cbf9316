package org.jrdma.sockets.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketException;
import java.nio.ByteBuffer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.internal.SocketFailure;

/**
 * The reading side of a stream. One thread at a time reads, with the lock of the direction held.
 */
final class StreamReader {

    private static final int END = -1;

    private final StreamConnection connection;
    private final Direction direction;
    private volatile boolean shut;

    /** The kernel reports a reset once, and a channel each time. */
    private volatile boolean reset;

    StreamReader(StreamConnection connection, Direction direction) {
        this.connection = connection;
        this.direction = direction;
    }

    /**
     * Whether there is a reason to read from the connection.
     *
     * @param room the number of bytes that can be read
     * @throws SocketException if the connection was reset before
     */
    boolean canRead(long room) throws SocketException {
        if (reset) {
            throw new SocketException("Connection reset");
        }
        return room > 0 && !shut;
    }

    int read(ByteBuffer target, Deadline deadline) throws IOException {
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

    /** Counts the bytes that were read, and translates the end and failures for a channel. */
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

    /** The number of bytes that can be read without waiting. */
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
