package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a drive that reports once that it has lost data, as a file does. */
@Timeout(60)
class FailedFlushTest {

    private static final FilePath FILE = FilePath.of("/file");

    private final LocalCluster cluster;
    private final RecordingConnector connector;
    private final VolumeClient client;
    private final AtomicBoolean isFailing = new AtomicBoolean();

    FailedFlushTest() throws Exception {
        cluster = new LocalCluster(8192, 1);
        connector = new RecordingConnector(cluster.connector());
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
        client = cluster.newClient("client", Optional.of(new LosingDrive()), connector);
        while (connector.count(Operation.HEARTBEAT) < 2) { // the first one reports the data server
            Thread.sleep(10);
        }
    }

    @AfterEach
    void stop() throws FabricException {
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    private final class LosingDrive extends LocalCluster.CutDrive {

        LosingDrive() {
            super(cluster.drive());
        }

        @Override
        public void flush() throws FabricException {
            if (isFailing.getAndSet(false)) {
                throw new VolumeException(Failure.DATA_LOST, "The flush fails on purpose");
            }
            super.flush();
        }
    }

    private static void assertReportsTheLoss(ThrowingCallable operation) {
        assertThatThrownBy(operation)
                .isInstanceOf(VolumeException.class)
                .extracting(e -> ((VolumeException) e).failure())
                .isEqualTo(Failure.DATA_LOST);
    }

    @Test
    void shouldNotBeRepeatedOverAnotherPath() throws Exception {
        var file = client.open(FILE, Creation.NEW, 0644);
        file.write(0, MemorySegment.ofArray(new byte[4096]));
        isFailing.set(true);

        assertReportsTheLoss(file::force);
        assertThat(connector.count(Operation.FLUSH_BLOCKS)).isZero();
        assertThat(client.state().data().kind()).isEqualTo(DataPathState.Kind.DIRECT);
    }

    /** The data of the other file was not durable either. */
    @Test
    void shouldBeReportedForAllOpenFiles() throws Exception {
        var file = client.open(FILE, Creation.NEW, 0644);
        var other = client.open(FilePath.of("/other"), Creation.NEW, 0644);
        file.write(0, MemorySegment.ofArray(new byte[4096]));
        other.write(0, MemorySegment.ofArray(new byte[4096]));
        isFailing.set(true);

        assertReportsTheLoss(file::force);
        assertReportsTheLoss(other::force);
        assertReportsTheLoss(file::close);
        assertReportsTheLoss(other::close);
    }

    @Test
    void shouldPreventTheCommitOfTheDataAlsoIfTheNextFlushWouldSucceed() throws Exception {
        var file = client.open(FILE, Creation.NEW, 0644);
        file.write(0, MemorySegment.ofArray(new byte[4096]));
        isFailing.set(true);

        assertReportsTheLoss(file::force);
        assertReportsTheLoss(file::force);
        assertThat(cluster.newClient("other").attributes(FILE).size()).isZero();
        assertReportsTheLoss(file::close);

        try (var again = client.open(FILE, Creation.EXISTING, 0)) {
            again.write(0, MemorySegment.ofArray(new byte[4096]));
            again.force();
        }
        assertThat(client.attributes(FILE).size()).isEqualTo(4096);
    }
}
