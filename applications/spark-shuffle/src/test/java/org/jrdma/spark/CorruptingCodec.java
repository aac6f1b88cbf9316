package org.jrdma.spark;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec;

/** Inverts a bit of each block that is longer than 20,000 bytes, and compresses nothing. */
public final class CorruptingCodec implements CompressionCodec {

    private static final int POSITION = 20_000;

    /** Creates the codec; called by Spark. */
    public CorruptingCodec(SparkConf conf) {}

    @Override
    public OutputStream compressedOutputStream(OutputStream bytes) {
        return bytes;
    }

    @Override
    public InputStream compressedInputStream(InputStream bytes) {
        return new FilterInputStream(bytes) {
            private long position;

            @Override
            public int read() throws IOException {
                var single = new byte[1];
                return read(single, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(single[0]);
            }

            @Override
            public int read(byte[] buffer, int offset, int length) throws IOException {
                var count = super.read(buffer, offset, length);
                if (position <= POSITION && POSITION < position + count) {
                    buffer[offset + (int) (POSITION - position)] ^= 1;
                }
                position += Math.max(count, 0);
                return count;
            }
        };
    }
}
