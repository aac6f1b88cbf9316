package org.jrdma.volume.coordinator;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.VolumeFormat;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the takeover on drives that are slow. */
@Timeout(60)
class TakeoverTest {

    private static final Duration LEASE = Duration.ofMillis(800);

    /** A drive that needs half of a lease to read a part of the journal. */
    private record SlowDrive(Drive drive) implements Drive {

        @Override
        public long blocks() {
            return drive.blocks();
        }

        @Override
        public void read(long block, MemorySegment target) throws FabricException {
            drive.read(block, target);
            if (target.byteSize() > 2 * BLOCK_BYTES) {
                try {
                    Thread.sleep(LEASE.dividedBy(2));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new VolumeException("Interrupted", e);
                }
            }
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
    void shouldKeepTheLeaseWhileItReadsAJournalForLongerThanTheLease() throws Exception {
        var drive = new SlowDrive(new MemoryDrive(1024));
        var _ = VolumeFormat.create(drive);
        try (var takeover = new Takeover(drive, Fence.BY_CLOCK, 1, LEASE, LEASE)) {
            while (takeover.coordinator().isEmpty()) {
                Thread.sleep(10);
            }
        }
    }
}
