package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.ffi.Errno;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests streams whose peer stores invalid positions. */
@Timeout(30)
class HostilePeerTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int BYTES = 16;

    private SisciFabric fabric;
    private SisciStream stream;
    private SisciStream peer;
    private RemoteSegment segment;
    private RemoteMap memory;
    private final MemorySegment target = Arena.ofAuto().allocate(BYTES);

    @BeforeEach
    void connect(@TempDir Path folder) throws Exception {
        fabric = SisciFabric.open(Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))));
        var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        var route = new StreamSegment.Route(fabric.nodeId(), loopback, BYTES);
        stream = SisciStream.open(fabric, 4096, route);
        peer = SisciStream.open(fabric, 4096, route);
        stream.join(fabric.nodeId(), peer.segmentId(), fabric.wakeUpNumber(), TIMEOUT);
        peer.join(fabric.nodeId(), stream.segmentId(), fabric.wakeUpNumber(), TIMEOUT);
        segment = fabric.node().connect(fabric.nodeId(), stream.segmentId(), TIMEOUT);
        memory = segment.map();
    }

    @AfterEach
    void close() {
        segment.close(); // otherwise, the stream would wait until no connection uses its segment
        stream.abandon();
        peer.abandon();
    }

    @ParameterizedTest
    @ValueSource(longs = {-705, -5, 4097, Long.MIN_VALUE, Long.MAX_VALUE})
    void shouldBeResetByAnInvalidProducerPosition(long produced) {
        memory.putLongRelease(StreamLayout.PRODUCED, produced);

        assertThat(stream.ready() & SocketCalls.POLLIN).isNotZero();
        assertThat(stream.available()).isZero();
        assertThat(stream.receive(target, BYTES)).isEqualTo(-Errno.ECONNRESET);
        assertThat(stream.send(target, BYTES)).isEqualTo(-Errno.EPIPE);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 5, Long.MAX_VALUE})
    void shouldBeResetByAnInvalidConsumerPosition(long consumed) {
        memory.putLongRelease(StreamLayout.CONSUMED, consumed);
        var result = 0;
        for (var sent = 0; sent <= 4096 && result >= 0; sent += BYTES) {
            result = stream.send(target, BYTES);
            memory.putLongRelease(StreamLayout.CONSUMED, Long.MAX_VALUE);
        }

        assertThat(result).isEqualTo(-Errno.ECONNRESET);
    }

    /** The next stream over the same segments starts after the unread bytes of the previous one. */
    @ParameterizedTest
    @ValueSource(longs = {-705, -5, 4097})
    void shouldNotStartTheNextStreamAtAnInvalidPosition(long produced) throws Exception {
        var local = fabric.node().newSegment(99, StreamLayout.inPages(2 * 4096));
        var ring = new ReceiveRing(local.map(), 4096);
        local.offer();
        var map = fabric.node().connect(fabric.nodeId(), 99, TIMEOUT).map();
        map.putLongRelease(StreamLayout.PRODUCED, produced);

        var next = new ReceiveRing(ring);

        assertThat(next.available()).isEqualTo(StreamLayout.INVALID_POSITION);
    }

    @Test
    void shouldTransferBytesWithAValidPeer() {
        target.setString(0, "hello");

        assertThat(peer.send(target, 5)).isEqualTo(5);
        target.fill((byte) 0);

        assertThat(stream.receive(target, BYTES)).isEqualTo(5);
        assertThat(target.getString(0)).isEqualTo("hello");
    }
}
