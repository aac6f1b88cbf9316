package org.jrdma.nvme.soft;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.soft.junit.SoftFabricTest;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.model.Access;

class StagingPoolTest {

    @SoftFabricTest
    void shouldHaveOneSmallBufferUntilTheHostHasConnected(Device device) throws Exception {
        try (var domain = device.newProtectionDomain();
                var arena = domain.newArena(Access.LOCAL_WRITE)) {
            var pool = new StagingPool(arena, false);
            assertThat(count(pool, StagingPool.SMALL_BYTES)).isEqualTo(1);
            assertThat(count(pool, HostDataBuffer.MAX_BYTES)).isZero();
            pool.allocate();
            assertThat(count(pool, StagingPool.SMALL_BYTES)).isEqualTo(31);
            assertThat(count(pool, HostDataBuffer.MAX_BYTES)).isEqualTo(4);
        }
    }

    /** Takes all buffers of a size. */
    private static int count(StagingPool pool, int bytes) {
        var count = 0;
        while (pool.take(bytes) != null) {
            count++;
        }
        return count;
    }
}
