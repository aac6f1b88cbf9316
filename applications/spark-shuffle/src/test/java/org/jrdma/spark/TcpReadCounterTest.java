package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.junit.jupiter.api.Test;

class TcpReadCounterTest {

    private final ShuffleMetrics metrics = new ShuffleMetrics();
    private final BlockTransferFixture.Task task = new BlockTransferFixture.Task();
    private final TcpReadCounter counter = new TcpReadCounter(task, metrics);

    @Test
    void shouldCountTheBlocksThatWereReadAndPassAllResultsToTheTask() {
        counter.onBlockFetchSuccess("shuffle_0_1_0", new NioManagedBuffer(ByteBuffer.allocate(7)));
        counter.onBlockFetchSuccess("shuffle_0_1_1", new NioManagedBuffer(ByteBuffer.allocate(5)));
        counter.onBlockFetchFailure("shuffle_0_1_2", new IOException("The executor is dead"));

        assertThat(metrics.values())
                .containsEntry(Metric.BLOCKS_BY_TCP, 2L)
                .containsEntry(Metric.BYTES_BY_TCP, 12L);
        assertThat(task.received)
                .containsExactly("shuffle_0_1_0", "shuffle_0_1_1", "shuffle_0_1_2 failed");
    }
}
