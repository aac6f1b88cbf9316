package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SisciStreamTest {

    private static final int RING_BYTES = 1 << 20;

    private static final StreamSegment.Route ROUTE =
            new StreamSegment.Route(
                    4, new InetSocketAddress(InetAddress.getLoopbackAddress(), 1), 0);

    /**
     * If the ID were reused immediately, a connect request that is still unread could connect its
     * listener to the next owner of the ID.
     */
    @Test
    void shouldNotReuseASegmentIdImmediately(@TempDir Path folder) throws Exception {
        var fabric = SisciStreamNode.open(Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))));
        var first = SisciStream.open(fabric, 4096, ROUTE);
        first.abandon();

        var second = SisciStream.open(fabric, 4096, ROUTE);

        assertThat(second.segmentId()).isNotEqualTo(first.segmentId());
        second.abandon();
    }

    /**
     * Positions in a ring count all bytes of the stream, so they exceed an int after 2 GiB. They
     * cannot exceed a long, which would take 29 years at 10 GB/s.
     */
    @Test
    void shouldTransferMoreThan2GiB(@TempDir Path folder) throws Exception {
        transfer(folder, 1L << 31);
    }

    @Test
    @Tag("slow")
    void shouldTransferMoreThan4GiB(@TempDir Path folder) throws Exception {
        transfer(folder, 1L << 32);
    }

    /** Transfers {@code bytes}, and then some chunks whose contents are checked. */
    private static void transfer(Path folder, long bytes) throws Exception {
        var fabric = SisciStreamNode.open(Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))));
        var sender = SisciStream.open(fabric, RING_BYTES, ROUTE);
        var receiver = SisciStream.open(fabric, RING_BYTES, ROUTE);
        var timeout = Duration.ofSeconds(5);
        sender.join(
                PeerSegment.connect(
                        fabric, 4, receiver.segmentId(), fabric.wakeUpNumber(), timeout));
        receiver.join(
                PeerSegment.connect(fabric, 4, sender.segmentId(), fabric.wakeUpNumber(), timeout));
        try (var arena = Arena.ofConfined()) {
            var source = arena.allocate(RING_BYTES / 4);
            var target = arena.allocate(RING_BYTES / 4);

            // The size of the chunks does not divide the size of the ring, so that some chunks are
            // split at its end.
            var sent = 0L;
            for (; sent < bytes - RING_BYTES; sent += 250_000) {
                assertThat(sender.send(source, 250_000)).isEqualTo(250_000);
                assertThat(receiver.receive(target, 250_000)).isEqualTo(250_000);
            }
            for (var i = 1; sent < bytes + RING_BYTES; i++) {
                source.fill((byte) i);
                assertThat(sender.send(source, 99_999)).isEqualTo(99_999);
                assertThat(receiver.receive(target, 99_999)).isEqualTo(99_999);
                assertThat(target.asSlice(0, 99_999).mismatch(source.asSlice(0, 99_999)))
                        .isEqualTo(-1);
                sent += 99_999;
            }
        }
        sender.abandon();
        receiver.abandon();
    }
}
