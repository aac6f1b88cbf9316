package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.jrdma.sockets.channel.StreamChannel;

/**
 * The output stream of a socket adaptor. A thread that writes does not block a thread that reads
 * from the same socket.
 */
final class SocketOutput extends OutputStream {

    private final StreamChannel channel;

    SocketOutput(StreamChannel channel) {
        this.channel = channel;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value});
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        channel.writeBlocking(ByteBuffer.wrap(bytes, offset, length));
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
