package org.jrdma.spark;

import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.Unpooled;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.jrdma.verbs.memory.PooledBuffer;

/**
 * A block that was read into a registered buffer. The last release releases the block's reference
 * to the buffer, which other blocks may share.
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
        return new ByteBufInputStream(Unpooled.wrappedBuffer(bytes));
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
        return Unpooled.wrappedBuffer(bytes);
    }

    @Override
    public Object convertToNettyForSsl() {
        return Unpooled.wrappedBuffer(bytes);
    }
}
