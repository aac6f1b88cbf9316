package org.jrdma.volume.client;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the return to a preferred transport of redirected data. */
@Timeout(60)
@Tag("slow")
class PreferredTransportTest {

    private final LocalCluster cluster;
    private final AtomicBoolean isCut = new AtomicBoolean();
    private final AtomicInteger attempts = new AtomicInteger();

    PreferredTransportTest() throws FabricException {
        cluster = new LocalCluster(8192, 1);
    }

    @AfterEach
    void stop() throws FabricException {
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    /**
     * Connects over the preferred transport. While that is cut, the first connection uses another
     * transport, and further attempts, which are to use the preferred one, fail.
     */
    private ServerConnector connector() {
        return (addresses, incoming, timeout) -> {
            var wasCut = isCut.get();
            if (wasCut && attempts.incrementAndGet() > 1) {
                throw new VolumeException("cut on purpose");
            }
            var connection = cluster.connector().connect(addresses, incoming, timeout);
            return new DelegatingConnection(connection) {
                private void check() throws FabricException {
                    if (isCut.get() && !wasCut) {
                        throw new VolumeException("cut on purpose");
                    }
                }

                @Override
                public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration limit)
                        throws FabricException {
                    check();
                    return super.send(request, source, limit);
                }

                @Override
                public ConnectionDescription state() {
                    return new ConnectionDescription(
                            addresses,
                            wasCut ? "other" : "preferred",
                            wasCut ? "other" : "preferred",
                            wasCut ? List.of("0: cut on purpose") : List.of());
                }
            };
        };
    }

    private static String transport(VolumeClient client) {
        return client.state()
                .data()
                .connection()
                .map(ConnectionDescription::transport)
                .orElse("none");
    }

    @Test
    void shouldReturnToAPreferredTransportThatWorksAgain() throws Exception {
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
        var client = cluster.newClient("client", Optional.empty(), connector());
        try (var file = client.open(FilePath.of("/file"), Creation.NEW, 0644)) {
            file.write(0, MemorySegment.ofArray(new byte[4096]));
            assertThat(transport(client)).isEqualTo("preferred");

            isCut.set(true);
            file.write(0, MemorySegment.ofArray(new byte[4096]));
            assertThat(transport(client)).isEqualTo("other");

            isCut.set(false);
            while (!transport(client).equals("preferred")) {
                Thread.sleep(10);
            }
            var state = client.state().data();
            assertThat(state.reason()).isEqualTo("a preferred transport works again");
            assertThat(state.switches()).isEqualTo(2);
            file.write(0, MemorySegment.ofArray(new byte[4096]));
        }
    }

    @Test
    void shouldTryAPreferredTransportThatDoesNotWorkLessAndLessOften() throws Exception {
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
        var client = cluster.newClient("client", Optional.empty(), connector());
        try (var file = client.open(FilePath.of("/file"), Creation.NEW, 0644)) {
            var start = System.nanoTime();
            isCut.set(true);
            file.write(0, MemorySegment.ofArray(new byte[4096]));
            while (attempts.get() < 1 + 3) { // the first one has connected the other transport
                Thread.sleep(10);
            }

            // after pauses of 1 s and 2 s, on a machine of any speed
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(ofSeconds(3));
        }
    }
}
