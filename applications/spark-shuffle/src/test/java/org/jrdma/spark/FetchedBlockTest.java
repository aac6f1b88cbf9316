package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.memory.BufferPool;
import org.jrdma.verbs.model.Access;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FetchedBlockTest {

    private static final byte[] CONTENT = {1, 2, -3, 4, 5};

    private Device device;
    private BufferPool pool;
    private FetchedBlock block;

    @BeforeEach
    void createBlock() throws Exception {
        device = Verbs.software().openFirst();
        pool = device.newProtectionDomain().newBufferPool(1 << 16, Access.LOCAL_WRITE);
        var buffer = pool.tryTake(100);
        buffer.segment().asByteBuffer().put(7, CONTENT);
        block = new FetchedBlock(buffer, 7, CONTENT.length);
        buffer.release();
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void shouldHaveTheSameContentInEachForm() throws Exception {
        assertThat(block.size()).isEqualTo(CONTENT.length);
        assertThat(block.nioByteBuffer()).isEqualTo(ByteBuffer.wrap(CONTENT));
        try (var stream = block.createInputStream()) {
            assertThat(stream.readAllBytes()).isEqualTo(CONTENT);
        }
        var netty = (ByteBuf) block.convertToNetty();
        assertThat(netty.nioBuffer()).isEqualTo(ByteBuffer.wrap(CONTENT));
        netty.release();
    }

    @Test
    void shouldReleaseTheBufferAfterTheLastRelease() {
        block.retain();
        block.release();
        assertThat(pool.statistics().usedBuffers()).isOne();

        block.release();

        assertThat(pool.statistics().usedBuffers()).isZero();
    }

    /** A task may still be reading a block when the executor ends. */
    @Test
    void shouldNotAccessMemoryAfterTheDeviceIsClosed() throws Exception {
        try (var stream = block.createInputStream()) {
            assertThat(stream.read()).isEqualTo(CONTENT[0]);

            device.close();

            assertThatIllegalStateException().isThrownBy(stream::read);
            assertThatIllegalStateException().isThrownBy(() -> stream.read(new byte[4], 0, 4));
            assertThatIllegalStateException().isThrownBy(() -> block.nioByteBuffer().get());
            assertThatIllegalStateException().isThrownBy(block::convertToNetty);
        }
    }
}
