package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.jrdma.sockets.channel.StreamChannel;

/** What an adaptor's socket writes; a reader of the same socket never waits for it. */
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
