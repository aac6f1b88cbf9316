package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;

/** What a stream carries: bytes of which each tells its place, and no two streams have the same. */
record Content(long seed) {

    byte at(long index) {
        var word = (seed + (index >>> 3)) * 0x9e3779b97f4a7c15L;
        word = (word ^ (word >>> 32)) * 0xd6e8feb86659fd93L;
        return (byte) ((word ^ (word >>> 32)) >>> ((index & 7) * 8));
    }

    /** So many bytes from a place on. */
    ByteBuffer bytes(long from, int count, boolean direct) {
        var buffer = direct ? ByteBuffer.allocateDirect(count) : ByteBuffer.allocate(count);
        for (var i = 0; i < count; i++) {
            buffer.put(i, at(from + i));
        }
        return buffer;
    }

    /** That a buffer has the bytes from a place on, up to its position. */
    void check(ByteBuffer buffer, long from) {
        for (var i = 0; i < buffer.position(); i++) {
            if (buffer.get(i) != at(from + i)) {
                assertThat(buffer.get(i)).as("byte %d", from + i).isEqualTo(at(from + i));
            }
        }
    }
}
