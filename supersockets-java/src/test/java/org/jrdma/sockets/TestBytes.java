package org.jrdma.sockets;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.Random;

/** Test data to send, and helpers that receive it. */
final class TestBytes {

    private TestBytes() {}

    static ByteBuffer of(String text) {
        return ByteBuffer.wrap(text.getBytes(US_ASCII));
    }

    /** Returns random bytes. Calls with the same count return the same bytes. */
    static byte[] many(int count) {
        var bytes = new byte[count];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    /** Reads {@code count} ASCII characters, or fewer if the stream ends. */
    static String read(ReadableByteChannel channel, int count) throws IOException {
        return new String(readBytes(channel, count), US_ASCII);
    }

    static byte[] readBytes(ReadableByteChannel channel, int count) throws IOException {
        var buffer = ByteBuffer.allocate(count);
        while (buffer.hasRemaining() && channel.read(buffer) >= 0) {}
        var bytes = new byte[buffer.flip().remaining()];
        buffer.get(bytes);
        return bytes;
    }
}
