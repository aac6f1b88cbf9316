package org.jrdma.sockets.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.internal.SocketFailure;

/**
 * Writes to a stream. One thread at a time writes, while it holds the lock of the output direction.
 * The {@code write} methods return the number of bytes written, or a negative errno if no byte was
 * written.
 */
final class StreamWriter {

    private final StreamConnection connection;
    private final DirectionGuard direction;
    private volatile boolean shut;

    StreamWriter(StreamConnection connection, DirectionGuard direction) {
        this.connection = connection;
        this.direction = direction;
    }

    long write(ByteBuffer source) throws IOException {
        var done = 0L;
        while (source.hasRemaining()) {
            int count;
            do {
                count = BufferTransfers.send(connection.stream(), source);
            } while (direction.retry(count));
            if (count < 0) {
                return done > 0 ? done : count;
            }
            done += count;
        }
        return done;
    }

    long write(ByteBuffer[] sources, int from, int end) throws IOException {
        return BufferTransfers.sendAll(connection.stream(), direction, sources, from, end);
    }

    long write(MemorySegment source) throws IOException {
        var bytes = source.byteSize();
        var done = 0L;
        while (done < bytes) {
            var rest = done == 0 ? source : source.asSlice(done);
            int count;
            do {
                count = connection.stream().send(rest, bytes - done);
            } while (direction.retry(count));
            if (count < 0) {
                return done > 0 ? done : count;
            }
            done += count;
        }
        return done;
    }

    int writeOutOfBand(int descriptor, int value) throws IOException {
        int result;
        do {
            result = SelectedTransport.sendOutOfBand(descriptor, value);
        } while (direction.retry(result));
        return result;
    }

    /** Throws an exception, as the channels of the JDK do, if the output was shut down. */
    void ensureNotShut() throws AsynchronousCloseException {
        if (shut) {
            throw new AsynchronousCloseException();
        }
    }

    /**
     * Converts the result of a send call to the return value of a channel, and counts the bytes:
     * EAGAIN becomes 0, and other failures become exceptions.
     */
    long finish(long result) throws IOException {
        if (result >= 0) {
            connection.report().addSent(result);
            return result;
        }
        if (result == -Errno.EAGAIN) {
            return 0;
        }
        ensureNotShut();
        throw SocketFailure.ofTransfer((int) -result);
    }

    void shutdown() throws IOException {
        if (!shut) {
            shut = true; // Set first, because a write that fails at the same time checks this flag.
            connection.stream().shutdownOutput();
        }
    }

    boolean isShut() {
        return shut;
    }
}
