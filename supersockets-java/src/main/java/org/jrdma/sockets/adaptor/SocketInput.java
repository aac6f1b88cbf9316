package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Supplier;
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.channel.StreamChannel;

/**
 * The input stream of a socket adaptor. A thread that reads does not block a thread that writes to
 * the same socket. The methods throw the exceptions of channels.
 */
final class SocketInput extends InputStream {

    private final StreamChannel channel;
    private final Supplier<Deadline> deadline;

    /**
     * Creates the stream.
     *
     * @param deadline computes the deadline of a read from the current timeout of the socket.
     *     Called by each read, because the timeout may change.
     */
    SocketInput(StreamChannel channel, Supplier<Deadline> deadline) {
        this.channel = channel;
        this.deadline = deadline;
    }

    @Override
    public int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, bytes.length);
        if (length == 0) {
            return 0;
        }
        return channel.readBlocking(ByteBuffer.wrap(bytes, offset, length), deadline.get());
    }

    @Override
    public int available() throws IOException {
        return channel.available();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
