package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.Access;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BlockBuffersTest {

    private static final long POOL_BYTES = 1 << 20;
    private static final long BYTES = 1 << 16;

    private final ShuffleMetrics metrics = new ShuffleMetrics();
    private Device device;
    private BlockBuffers buffers;

    @BeforeEach
    void createBuffers() throws Exception {
        device = Verbs.software().openFirst();
        var pool = device.newProtectionDomain().newBufferPool(POOL_BYTES, Access.LOCAL_WRITE);
        buffers = new BlockBuffers(pool, metrics);
    }

    @AfterEach
    void close() {
        device.close();
    }

    private long registeredBytes() {
        return metrics.values().get(Metric.BUFFER_BYTES);
    }

    @Test
    void shouldKeepIdleBuffersUntilTheLastFetcherEnds() throws Exception {
        buffers.fetcherStarted();
        buffers.fetcherStarted();
        buffers.tryTake(BYTES).release();

        buffers.fetcherEnded();
        buffers.trimIfUnused();
        assertThat(registeredBytes()).isEqualTo(BYTES);

        buffers.fetcherEnded();
        assertThat(registeredBytes()).isZero();
    }

    @Test
    void shouldReleaseBuffersThatTasksReturnAfterTheLastFetcherHasEnded() throws Exception {
        buffers.fetcherStarted();
        var buffer = buffers.tryTake(BYTES);
        buffers.fetcherEnded();
        assertThat(registeredBytes()).isEqualTo(BYTES);

        buffer.release();
        buffers.trimIfUnused();

        assertThat(registeredBytes()).isZero();
    }

    @Test
    void shouldHaveBuffersForSeveralPieces() throws Exception {
        for (var piece = 0; piece < 4; piece++) {
            assertThat(buffers.tryTake(buffers.pieceBytes())).isNotNull();
        }
    }

    @Test
    void shouldLimitPiecesOfALargePool() throws Exception {
        var pool = device.newProtectionDomain().newBufferPool(1 << 30, Access.LOCAL_WRITE);

        assertThat(new BlockBuffers(pool, new ShuffleMetrics()).pieceBytes())
                .isEqualTo(BlockBuffers.PIECE_BYTES);
    }

    @Test
    void shouldHaveBuffersOfTheMaximumLength() throws Exception {
        assertThat(buffers.tryTake(buffers.maxBlockBytes())).isNotNull();
    }
}
