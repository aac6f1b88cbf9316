package org.jrdma.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FailedDriveRetryPauseTest {

    /** A drive that counts the reads of its superblock, of which only the first succeeds. */
    private static final class CountedDrive implements Drive {

        private final MemoryDrive drive = new MemoryDrive(1024);
        private final AtomicInteger reads = new AtomicInteger();

        @Override
        public long blocks() {
            return drive.blocks();
        }

        @Override
        public void read(long block, MemorySegment target) throws FabricException {
            if (block == 0 && reads.incrementAndGet() > 1) {
                throw new VolumeException("The drive fails on purpose");
            }
            drive.read(block, target);
        }

        @Override
        public void write(long block, MemorySegment source) throws FabricException {
            drive.write(block, source);
        }

        @Override
        public void flush() throws FabricException {
            drive.flush();
        }

        @Override
        public Fence fence() {
            return drive.fence();
        }

        @Override
        public void close() {
            drive.close();
        }
    }

    @Test
    void shouldPauseBeforeItUsesADriveThatHasFailedAgain() throws Exception {
        var drive = new CountedDrive();
        VolumeServer.create(drive);
        var options = ServerOptions.named("server").node(NodeOptions.of(TransportKind.SOCKETS));
        try (var _ = VolumeServer.start(drive, options)) {
            Thread.sleep(1000);

            assertThat(drive.reads.get()).isLessThan(20);
        }
    }
}
