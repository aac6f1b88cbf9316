package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.jrdma.ffi.Deadline;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.internal.SocketCalls;
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

    private static SisciStreamNode open(Path folder) throws Exception {
        return SisciStreamNode.open(Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))));
    }

    /**
     * If the ID were reused immediately, a connect request that is still unread could connect its
     * listener to the next owner of the ID.
     */
    @Test
    void shouldNotReuseASegmentIdImmediately(@TempDir Path folder) throws Exception {
        var streamNode = open(folder);
        var first = SisciStream.open(streamNode, 4096, ROUTE);
        first.abandon();

        var second = SisciStream.open(streamNode, 4096, ROUTE);

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
        var streamNode = open(folder);
        var sender = SisciStream.open(streamNode, RING_BYTES, ROUTE);
        var receiver = SisciStream.open(streamNode, RING_BYTES, ROUTE);
        join(streamNode, sender, receiver);
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

    private static void join(SisciStreamNode streamNode, SisciStream first, SisciStream second)
            throws Exception {
        first.join(connect(streamNode, second));
        second.join(connect(streamNode, first));
    }

    private static PeerSegment connect(SisciStreamNode streamNode, SisciStream peer)
            throws Exception {
        return PeerSegment.connect(
                streamNode, 4, peer.segmentId(), streamNode.wakeUpNumber(), Duration.ofSeconds(5));
    }

    /** The next stream is requested by the connecting end, and never by its peer. */
    @Test
    void shouldNeedWakeUpsForAKeptSegmentOnlyAtTheAcceptingEnd(@TempDir Path folder)
            throws Exception {
        var streamNode = open(folder);
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 4_712);
        var listener = streamNode.listen(address, 10, 4096);
        var use = new StreamSegment.Accepted(listener, address.getAddress());
        var connecting = SisciStream.open(streamNode, RING_BYTES, ROUTE);
        var accepting = SisciStream.open(streamNode, RING_BYTES, use);
        join(streamNode, connecting, accepting);

        connecting.close(false);
        eventually(connecting::needsService); // until the peer closes its end
        accepting.close(false);

        eventually(() -> !connecting.needsService());
        eventually(accepting::needsService);
        assertThat(streamNode.next(ROUTE)).as("a stream over the kept segments").isNotNull();
        listener.close();
    }

    @Test
    void shouldWakeUpTheReceiverAlsoIfItsMarksAreDamaged(@TempDir Path folder) throws Exception {
        var streamNode = open(folder);
        var sender = SisciStream.open(streamNode, RING_BYTES, ROUTE);
        var receiver = SisciStream.open(streamNode, RING_BYTES, ROUTE);
        var marks = streamNode.marks().segment();
        try (var segment = streamNode.node().connect(4, marks.id(), Duration.ofSeconds(5))) {
            segment.map().putLongRelease(0, 0);
        }
        join(streamNode, sender, receiver);
        var woken = new AtomicBoolean();
        receiver.add(() -> woken.set(true));
        assertThat(receiver.readyOrArmed(SocketCalls.POLLIN)).isZero();

        sender.shutdownOutput();

        eventually(woken::get);
        sender.abandon();
        receiver.abandon();
    }

    @Test
    void shouldRepeatAScanThatFailed(@TempDir Path folder) throws Exception {
        var streamNode = open(folder);
        var sender = SisciStream.open(streamNode, RING_BYTES, ROUTE);
        var receiver = SisciStream.open(streamNode, RING_BYTES, ROUTE);
        join(streamNode, sender, receiver);
        var fails = new AtomicBoolean(true);
        var failed = new AtomicBoolean();
        var woken = new AtomicBoolean();
        receiver.add(() -> {
            if (fails.get()) {
                failed.set(true);
                throw new OutOfMemoryError("thrown by the test");
            }
            woken.set(true);
        });
        assertThat(receiver.readyOrArmed(SocketCalls.POLLIN)).isZero();

        sender.shutdownOutput();
        eventually(failed::get);
        assertThat(woken).isFalse();
        fails.set(false);

        eventually(woken::get);
        sender.abandon();
        receiver.abandon();
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        var deadline = Deadline.after(Duration.ofSeconds(10));
        while (!condition.getAsBoolean()) {
            assertThat(deadline.hasPassed()).isFalse();
            Thread.sleep(1);
        }
    }
}
