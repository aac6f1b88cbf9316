package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.RequestHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the wait after a redirected write whose reply was lost. Until then, the data server may
 * still execute the write, so that another write would be overwritten.
 */
@Timeout(60)
class LateRedirectedWriteTest {

    private static final Duration CALL_TIMEOUT = Duration.ofMillis(500);
    private static final Duration RETRY_TIMEOUT = Duration.ofMillis(200);
    private static final int PART_BYTES = 64 * 1024;

    private final LocalCluster cluster;

    /** Two heartbeats: the reply to the first one reports the data server. */
    private final CountDownLatch heartbeats = new CountDownLatch(2);

    private final AtomicBoolean isWriting = new AtomicBoolean();

    /** The duration of an attempt to connect to the data server. */
    private Duration connecting = Duration.ZERO;

    /** The duration of the transfer of a part whose reply arrives. */
    private Duration sending = Duration.ZERO;

    private int parts = 1;
    private final AtomicInteger sent = new AtomicInteger();

    /** The time at which the last part was sent, whose reply is lost. */
    private volatile long lastSent;

    LateRedirectedWriteTest() throws Exception {
        cluster = new LocalCluster(8192, 1);
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
    }

    @AfterEach
    void stop() throws FabricException {
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    private static void sleep(Duration duration) throws VolumeException {
        try {
            Thread.sleep(duration);
        } catch (InterruptedException e) {
            throw new VolumeException("Interrupted", e);
        }
    }

    private ServerConnector.Connection connect(
            List<String> addresses, UnaryOperator<ByteBuffer> incoming, Duration timeout)
            throws FabricException {
        if (isWriting.get()) {
            sleep(connecting);
        }
        return new DelegatingConnection(cluster.connector().connect(addresses, incoming, timeout)) {
            @Override
            public ByteBuffer call(ByteBuffer request, Duration limit) throws FabricException {
                var header = RequestHeader.decode(new Decoder(request.duplicate()));
                if (header.operation() == Operation.HEARTBEAT) {
                    heartbeats.countDown();
                }
                return super.call(request, limit);
            }

            @Override
            public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration limit)
                    throws FabricException {
                if (sent.incrementAndGet() % parts != 0) {
                    sleep(sending);
                    return super.send(request, source, limit);
                }
                lastSent = System.nanoTime();
                throw new VolumeException("The reply was lost");
            }
        };
    }

    private void assertThatAFailedWriteEndsAfterTheCallTimeout() throws Exception {
        try (var client =
                new VolumeClient(
                        LocalCluster.options(CALL_TIMEOUT, RETRY_TIMEOUT),
                        this::connect,
                        Optional.empty())) {
            var file = client.open(FilePath.of("/file"), Creation.NEW, 0644);
            heartbeats.await();
            isWriting.set(true);
            var data = MemorySegment.ofArray(new byte[parts * PART_BYTES]);
            assertThatThrownBy(() -> file.write(0, data))
                    .hasMessageContaining("No path to the data works");

            assertThat(sent).hasValue(parts);
            assertThat(System.nanoTime() - lastSent).isGreaterThanOrEqualTo(CALL_TIMEOUT.toNanos());
            isWriting.set(false);
        }
    }

    @Test
    void shouldLastForTheCallTimeout() throws Exception {
        assertThatAFailedWriteEndsAfterTheCallTimeout();
    }

    @Test
    void shouldStartAfterASlowConnectionAttempt() throws Exception {
        connecting = CALL_TIMEOUT.multipliedBy(2);
        assertThatAFailedWriteEndsAfterTheCallTimeout();
    }

    @Test
    void shouldStartAfterTheLastOfSeveralSlowParts() throws Exception {
        sending = CALL_TIMEOUT.dividedBy(2);
        parts = 4;
        assertThatAFailedWriteEndsAfterTheCallTimeout();
    }
}
