package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the registration of map outputs beyond the limit with on-demand paging. */
@Timeout(60)
class OnDemandPagingTest extends BlockTransferFixture {

    @Override
    boolean onDemandPaging() {
        return true;
    }

    @Test
    void shouldReadBlocksBeyondTheLimitByRdma() throws Exception {
        for (var map = 1; map <= 4; map++) {
            write(0, map);
        }
        var first = outputs.acquire(new MapOutputIndex.Key(0, 1)).orElseThrow();
        var second = outputs.acquire(new MapOutputIndex.Key(0, 2)).orElseThrow();

        // Neither block starts at the beginning of a page.
        var task = fetch("shuffle_0_3_7", "shuffle_0_4_3_5");

        assertThat(task.stock).isEmpty();
        assertThat(task.bytes("shuffle_0_3_7")).hasSize(PARTITION_BYTES).containsOnly(7);
        var batch = task.bytes("shuffle_0_4_3_5");
        assertThat(batch).hasSize(2 * PARTITION_BYTES).startsWith(3).endsWith(4);
        assertThat(batch[PARTITION_BYTES - 1]).isEqualTo((byte) 3);
        assertThat(batch[PARTITION_BYTES]).isEqualTo((byte) 4);
        assertThat(value(Metric.BLOCKS_REFUSED)).isZero();
        assertThat(value(Metric.REGISTERED_FILES)).isEqualTo(4);
        assertThat(value(Metric.REGISTERED_BYTES)).isEqualTo(2 * FILE_BYTES);

        task.release();
        outputs.release(first);
        outputs.release(second);
        outputs.forget(0);
        awaitValue(Metric.REGISTERED_FILES, 0);
        assertThat(value(Metric.REGISTERED_BYTES)).isZero();
    }

    @Test
    void shouldNotReadOnDemandFromTheKernelsRxe() throws Exception {
        var attributes = device.extendedAttributes();

        assertThat(RdmaExecutor.canReadOnDemand(device.attributes().vendorId(), attributes))
                .isTrue();
        assertThat(RdmaExecutor.canReadOnDemand(RdmaExecutor.RXE, attributes)).isFalse();
    }
}
