package org.jrdma.volume.coordinator;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the takeover on drives that are slow. */
@Timeout(60)
@Tag("slow")
class SlowDriveTakeoverTest {

    private static final Duration LEASE = Duration.ofMillis(800);

    private static void pause(Duration duration) throws VolumeException {
        try {
            Thread.sleep(duration);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VolumeException("Interrupted", e);
        }
    }

    /**
     * A drive that needs long to read a part of the journal, to flush or to register a node, or to
     * create a queue for a platform thread.
     *
     * @param threads the platform threads that have a queue
     */
    private record SlowDrive(
            Drive drive,
            Duration readPause,
            Duration flushPause,
            Duration queuePause,
            Set<Thread> threads)
            implements Drive, Fence {

        static SlowDrive of(Duration readPause, Duration flushPause, Duration queuePause) {
            return new SlowDrive(
                    new MemoryDrive(1024),
                    readPause,
                    flushPause,
                    queuePause,
                    ConcurrentHashMap.newKeySet());
        }

        private void createQueue() throws VolumeException {
            var thread = Thread.currentThread();
            if (!thread.isVirtual() && threads.add(thread)) {
                pause(queuePause);
            }
        }

        @Override
        public long blocks() {
            return drive.blocks();
        }

        @Override
        public void read(long block, MemorySegment target) throws FabricException {
            createQueue();
            drive.read(block, target);
            if (target.byteSize() > 2 * BLOCK_BYTES) {
                pause(readPause);
            }
        }

        @Override
        public void write(long block, MemorySegment source) throws FabricException {
            createQueue();
            drive.write(block, source);
        }

        @Override
        public void flush() throws FabricException {
            createQueue();
            pause(flushPause);
            drive.flush();
        }

        @Override
        public Fence fence() {
            return this;
        }

        @Override
        public void register(long key) throws FabricException {
            pause(flushPause);
        }

        @Override
        public void unregister(long key) {}

        @Override
        public void lead(long key, long predecessor) {}

        @Override
        public boolean exclude(long key) {
            return false;
        }

        @Override
        public void excludeUnknown(Set<Long> known) {}

        @Override
        public void close() {
            drive.close();
        }
    }

    private static void takeOver(Drive drive) throws Exception {
        var _ = VolumeFormatter.create(drive);
        try (var takeover = new Takeover(drive, drive.fence(), 1, LEASE, LEASE)) {
            while (takeover.coordinator().isEmpty()) {
                Thread.sleep(10);
            }
        }
    }

    @Test
    void shouldKeepTheLeaseWhileItReadsAJournalForLongerThanTheLease() throws Exception {
        takeOver(SlowDrive.of(LEASE.dividedBy(2), Duration.ZERO, Duration.ZERO));
    }

    @Test
    void shouldKeepTheLeaseOnADriveThatCreatesQueuesSlowly() throws Exception {
        takeOver(SlowDrive.of(LEASE.dividedBy(2), Duration.ZERO, LEASE.multipliedBy(2)));
    }

    @Test
    void shouldTakeOverOnADriveWithSlowFlushesAndRegistrations() throws Exception {
        takeOver(SlowDrive.of(Duration.ZERO, LEASE.dividedBy(6), Duration.ZERO));
    }
}
