package org.jrdma.volume.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.CoordinatorLease;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.drive.PermissiveFence;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class LostTakeoverTest {

    private static final long KEY = 1;
    private static final Duration LEASE = Duration.ofMillis(400);

    /** A registered standby could write, also for clients whose sessions have ended. */
    @ParameterizedTest
    @ValueSource(ints = {400, 800}) // equal and different timeouts
    void shouldRemoveTheRegistrationWhenAnotherNodeIsFaster(int sessionMillis) throws Exception {
        var drive = new MemoryDrive(1024);
        var superblock = VolumeFormatter.create(drive);
        var other =
                new CoordinatorLease(
                        drive,
                        superblock.leaseBlock(),
                        new CoordinatorLease.Timeouts((int) LEASE.toMillis(), sessionMillis));
        var unregistered = new CompletableFuture<Long>();
        var fence =
                new PermissiveFence() {
                    @Override
                    public void register(long key) throws FabricException {
                        try {
                            if (other.observe()) {
                                var _ = other.tryTake(2);
                            }
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt();
                            throw new VolumeException("Interrupted", e);
                        }
                    }

                    @Override
                    public void unregister(long key) {
                        unregistered.complete(key);
                    }
                };
        try (var takeover = new Takeover(drive, fence, KEY, LEASE, LEASE)) {
            assertThat(unregistered.get()).isEqualTo(KEY);
            assertThat(takeover.coordinator()).isEmpty();
        }
    }
}
