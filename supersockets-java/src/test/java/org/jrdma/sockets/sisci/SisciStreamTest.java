package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SisciStreamTest {

    private static final StreamSegment.Route ROUTE =
            new StreamSegment.Route(
                    4, new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), 0);

    /**
     * If the ID were reused immediately, a connect request that is still unread could connect its
     * listener to the next owner of the ID.
     */
    @Test
    void shouldNotReuseASegmentIdImmediately(@TempDir Path folder) throws Exception {
        var fabric = SisciFabric.open(Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))));
        var first = SisciStream.open(fabric, 4096, ROUTE);
        first.abandon();

        var second = SisciStream.open(fabric, 4096, ROUTE);

        assertThat(second.segmentId()).isNotEqualTo(first.segmentId());
        second.abandon();
    }
}
