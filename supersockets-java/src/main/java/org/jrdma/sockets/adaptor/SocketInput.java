package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Supplier;
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.channel.StreamChannel;

/**
 * What an adaptor's socket reads; a writer of the same socket never waits for it. It refuses in the
 * words of channels.
 */
final class SocketInput extends InputStream {

    private final StreamChannel channel;
    private final Supplier<Deadline> deadline;

    /** With when a read that begins now is to end, which may change at any time. */
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
