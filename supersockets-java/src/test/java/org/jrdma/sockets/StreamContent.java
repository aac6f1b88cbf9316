package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;

/**
 * The expected content of a stream. Each byte depends on its position and on the seed of the
 * stream.
 */
record StreamContent(long seed) {

    byte at(long index) {
        var word = (seed + (index >>> 3)) * 0x9e3779b97f4a7c15L;
        word = (word ^ (word >>> 32)) * 0xd6e8feb86659fd93L;
        return (byte) ((word ^ (word >>> 32)) >>> ((index & 7) * 8));
    }

    /** Returns {@code count} bytes that start at a position of the stream. */
    ByteBuffer bytes(long from, int count, boolean direct) {
        var buffer = direct ? ByteBuffer.allocateDirect(count) : ByteBuffer.allocate(count);
        for (var i = 0; i < count; i++) {
            buffer.put(i, at(from + i));
        }
        return buffer;
    }

    /**
     * Checks the bytes of a buffer up to its position, which start at {@code from} in the stream.
     */
    void check(ByteBuffer buffer, long from) {
        for (var i = 0; i < buffer.position(); i++) {
            if (buffer.get(i) != at(from + i)) {
                assertThat(buffer.get(i)).as("byte %d", from + i).isEqualTo(at(from + i));
            }
        }
    }
}
