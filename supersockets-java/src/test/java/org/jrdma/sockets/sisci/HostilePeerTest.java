package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
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
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests streams whose peer stores any value into any word. */
@Timeout(30)
class HostilePeerTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int BYTES = 16;

    private static final long[] WORDS = {
        StreamLayout.KIND,
        StreamLayout.CAPACITY,
        StreamLayout.SLOT,
        StreamLayout.PRODUCED,
        StreamLayout.CONSUMED,
        StreamLayout.READER_SLEEPS,
        StreamLayout.WRITER_SLEEPS,
        StreamLayout.ENDED,
        StreamLayout.TOTAL,
        StreamLayout.CLOSE,
        StreamLayout.REPLY,
        StreamLayout.SEGMENT,
        StreamLayout.WAKE_UP,
        StreamLayout.REQUEST_LENGTH,
        StreamLayout.REQUEST
    };

    /** The quick form stores each value in a third of the words. */
    private static final int STEP = Boolean.getBoolean("jrdma.test.quick") ? 3 : 1;

    private static final long[] VALUES = {
        0,
        1,
        2,
        3,
        5,
        0xff,
        0x100,
        4095,
        4096,
        4097,
        8192,
        -1,
        -5,
        -705,
        -4096,
        -4097,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        1L << 32,
        1L << 56,
        Long.MAX_VALUE,
        Long.MIN_VALUE
    };

    private static final List<Integer> RESULTS =
            Stream.concat(
                            IntStream.rangeClosed(0, BYTES).boxed(),
                            Stream.of(SocketCalls.AGAIN, -Errno.EPIPE, -Errno.ECONNRESET))
                    .toList();

    private SisciStreamNode streamNode;
    private SisciStream stream;
    private SisciStream peer;
    private RemoteSegment segment;
    private RemoteMap memory;
    private final MemorySegment target = Arena.ofAuto().allocate(BYTES);

    @BeforeEach
    void connect(@TempDir Path folder) throws Exception {
        streamNode = SisciStreamNode.open(Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))));
        connectStreams();
    }

    private void connectStreams() throws Exception {
        var loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        var route = new StreamSegment.Route(streamNode.nodeId(), loopback, BYTES);
        stream = SisciStream.open(streamNode, 4096, route);
        peer = SisciStream.open(streamNode, 4096, route);
        stream.join(connectTo(peer));
        peer.join(connectTo(stream));
        segment = streamNode.node().connect(streamNode.nodeId(), stream.segmentId(), TIMEOUT);
        memory = segment.map();
    }

    private PeerSegment connectTo(SisciStream target) throws Exception {
        return PeerSegment.connect(
                streamNode,
                streamNode.nodeId(),
                target.segmentId(),
                streamNode.wakeUpNumber(),
                TIMEOUT);
    }

    @AfterEach
    void close() {
        segment.close(); // Otherwise, the stream would wait until no connection uses its segment.
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
    void shouldBeResetByAConsumerPositionAfterTheProducer(long distance) {
        var result = 0;
        for (var sent = 0; sent <= 4096 && result >= 0; sent += result) {
            var consumed = Math.max(distance, sent + distance); // the sum may overflow
            memory.putLongRelease(StreamLayout.CONSUMED, consumed);
            result = stream.send(target, BYTES);
        }

        assertThat(result).isEqualTo(-Errno.ECONNRESET);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 3, 8192, -1, Long.MIN_VALUE, Long.MAX_VALUE})
    void shouldNotConnectToASegmentWithAnInvalidCapacity(long capacity) {
        memory.putLongRelease(StreamLayout.CAPACITY, capacity);

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> connectTo(stream))
                .withMessageEndingWith("is not a segment of a stream");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, WakeUpMarks.SLOTS})
    void shouldNotConnectToASegmentWithAnInvalidSlot(int slot) {
        memory.putLongRelease(
                StreamLayout.SLOT, StreamLayout.word(streamNode.marks().segment().id(), slot));

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> connectTo(stream))
                .withMessageContaining("has the invalid slot %d for wake-ups".formatted(slot));
    }

    /** The next stream over the same segments starts after the unread bytes of the previous one. */
    @ParameterizedTest
    @ValueSource(longs = {-705, -5, 4097})
    void shouldNotStartTheNextStreamAtAnInvalidPosition(long produced) throws Exception {
        var local = streamNode.node().newSegment(99, StreamLayout.inPages(2 * 4096));
        var ring = new ReceiveRing(local.map(), 4096);
        local.offer();
        var map = streamNode.node().connect(streamNode.nodeId(), 99, TIMEOUT).map();
        map.putLongRelease(StreamLayout.PRODUCED, produced);

        var next = new ReceiveRing(ring);

        assertThat(next.available()).isEqualTo(StreamLayout.INVALID_POSITION);
    }

    /** The state of the stream when the peer stores a hostile value. */
    enum State {
        CONNECTED,
        WITH_UNREAD_BYTES,
        WRAPPED,
        FULL,
        ENDED,
        OUTPUT_ENDED,
        CLOSED_BY_THE_PEER,
        RESET_BY_THE_PEER
    }

    @ParameterizedTest
    @EnumSource
    void shouldReportAnyValueInAnyWordAsAResult(State state) throws Exception {
        for (var word = 0; word < WORDS.length; word++) {
            for (var i = word % STEP; i < VALUES.length; i += STEP) {
                var value = VALUES[i];
                close();
                connectStreams();
                enter(state);

                memory.putLongRelease(WORDS[word], value);

                assertDefinedResults("%s: %,d in word %d".formatted(state, value, WORDS[word]));
            }
        }
    }

    private void enter(State state) {
        switch (state) {
            case CONNECTED -> {}
            case WITH_UNREAD_BYTES -> peer.send(target, 5);
            case WRAPPED -> {
                for (var i = 0; i < 300; i++) {
                    peer.send(target, BYTES);
                    stream.receive(target, BYTES);
                }
            }
            case FULL -> {
                while (stream.send(target, BYTES) > 0) {
                    // The loop ends when the ring of the peer is full.
                }
            }
            case ENDED -> peer.shutdownOutput();
            case OUTPUT_ENDED -> stream.shutdownOutput();
            case CLOSED_BY_THE_PEER -> peer.close(false);
            case RESET_BY_THE_PEER -> peer.close(true);
        }
    }

    /** No exception may be thrown, and no byte beyond the target or the ring may be accessed. */
    private void assertDefinedResults(String description) {
        assertThat(stream.ready()).as(description).isBetween(0, 5);
        assertThat(stream.available()).as(description).isBetween(0, 4096);
        stream.scan();
        for (var i = 0; i < 3; i++) {
            assertThat(stream.receive(target, BYTES)).as(description).isIn(RESULTS);
            assertThat(stream.send(target, BYTES)).as(description).isIn(RESULTS);
        }
        stream.shutdownInput();
        stream.shutdownOutput();
        stream.scan();
        stream.close(false);
        stream.scan();
        assertThat(stream.receive(target, BYTES)).as(description).isIn(RESULTS);
    }

    /** The scans find bytes for which the peer has sent no wake-up. */
    @Test
    void shouldScanTheOtherStreamsIfTheScanOfOneFails() throws Exception {
        var failures = new Semaphore(0);
        stream.add(() -> {
            failures.release();
            throw new StackOverflowError("thrown by the stream, on purpose");
        });
        var woken = new Semaphore(0);
        peer.add(woken::release);
        assertThat(stream.readyOrArmed(SocketCalls.POLLIN)).isZero();
        memory.putLongRelease(StreamLayout.PRODUCED, 1);
        failures.acquire();

        assertThat(peer.readyOrArmed(SocketCalls.POLLIN)).isZero();
        var other = streamNode.node().connect(streamNode.nodeId(), peer.segmentId(), TIMEOUT);
        other.map().putLongRelease(StreamLayout.PRODUCED, 1);

        assertThat(woken.tryAcquire(5, TimeUnit.SECONDS)).isTrue();
        assertThat(peer.receive(target, BYTES)).isEqualTo(1);
        assertThat(stream.receive(target, BYTES)).isEqualTo(1);
        assertThat(stream.receive(target, BYTES)).isEqualTo(-Errno.ECONNRESET);
        other.close();
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
