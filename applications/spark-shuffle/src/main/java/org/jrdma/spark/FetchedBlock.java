package org.jrdma.spark;

import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.util.ByteBufferInputStream;
import org.jrdma.verbs.memory.PooledBuffer;

/**
 * A block that was read into a registered buffer. The last release releases the block's reference
 * to the buffer, which other blocks may share.
 *
 * <p>When the executor ends, the memory is freed although tasks may still be reading blocks. Access
 * to the memory therefore must not bypass the checks of {@link ByteBuffer}, as a ByteBuf of Netty
 * does.
 */
final class FetchedBlock extends ManagedBuffer {

    private final PooledBuffer buffer;
    private final ByteBuffer bytes;
    private final AtomicInteger references = new AtomicInteger(1);

    FetchedBlock(PooledBuffer buffer, long offset, long length) {
        this.buffer = buffer.retain();
        this.bytes = buffer.segment().asSlice(offset, length).asByteBuffer().asReadOnlyBuffer();
    }

    @Override
    public long size() {
        return bytes.remaining();
    }

    @Override
    public ByteBuffer nioByteBuffer() {
        return bytes.duplicate();
    }

    @Override
    public InputStream createInputStream() {
        return new ByteBufferInputStream(nioByteBuffer());
    }

    @Override
    public ManagedBuffer retain() {
        references.incrementAndGet();
        return this;
    }

    @Override
    public ManagedBuffer release() {
        if (references.decrementAndGet() == 0) {
            buffer.release();
        }
        return this;
    }

    @Override
    public Object convertToNetty() {
        return Unpooled.copiedBuffer(bytes);
    }

    @Override
    public Object convertToNettyForSsl() {
        return Unpooled.copiedBuffer(bytes);
    }
}
