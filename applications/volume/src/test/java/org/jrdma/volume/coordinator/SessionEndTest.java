package org.jrdma.volume.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.NvmeException;
import org.jrdma.nvme.model.Status;
import org.jrdma.volume.Conditions;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.drive.PermissiveFence;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.PeerConnection;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the locks of lost clients become free. */
@Timeout(value = 60, threadMode = SEPARATE_THREAD) // a wait for a lock is not interruptible
class SessionEndTest {

    private static final Duration SESSION_TIMEOUT = Duration.ofMillis(600);
    private static final PeerConnection DEAD =
            (_, _) -> {
                throw new VolumeException("The process was killed");
            };

    private final PeerConnection alive = (_, _) -> ByteBuffer.wrap(ReplyEncoding.empty());

    private static Coordinator start(Fence fence) throws FabricException {
        return start(fence, SESSION_TIMEOUT);
    }

    private static Coordinator start(Fence fence, Duration sessionTimeout) throws FabricException {
        var drive = new MemoryDrive(4096);
        var _ = VolumeFormatter.create(drive);
        return new Coordinator(drive, fence, 1, sessionTimeout, () -> {});
    }

    private static Fence failingOnce(AtomicInteger attempts) {
        return new PermissiveFence() {
            @Override
            public boolean exclude(long key) throws FabricException {
                if (attempts.incrementAndGet() == 1) {
                    throw new VolumeException("The drive fails on purpose");
                }
                return true;
            }
        };
    }

    /** Sends heartbeats until the coordinator grants the lease of a client that was killed. */
    private void awaitLeaseOfKilledClient(Coordinator coordinator) throws Exception {
        var killed = TestClient.open(coordinator, DEAD);
        var file = LateOrReconnectedClientRequestsTest.open(killed);
        LateOrReconnectedClientRequestsTest.acquireWriteLease(killed, file);
        var other = TestClient.open(coordinator, alive);
        var waiting =
                new Thread(() -> {
                    try {
                        LateOrReconnectedClientRequestsTest.acquireWriteLease(
                                other, LateOrReconnectedClientRequestsTest.open(other));
                    } catch (VolumeException e) {
                        throw new AssertionError(e);
                    }
                });
        waiting.start();
        while (!waiting.join(SESSION_TIMEOUT.dividedBy(4))) {
            other.heartbeat();
        }
    }

    @Test
    void shouldEndTheSessionsOfTwoDataServersThatAreLostTogether() throws Exception {
        try (var coordinator = start(Fence.BY_CLOCK)) {
            var _ = TestClient.openDataServer(coordinator, DEAD);
            var _ = TestClient.openDataServer(coordinator, DEAD);

            awaitLeaseOfKilledClient(coordinator);
        }
    }

    @Test
    void shouldExcludeAClientAfterAFailureOfTheDrive() throws Exception {
        var attempts = new AtomicInteger();
        try (var coordinator = start(failingOnce(attempts))) {
            awaitLeaseOfKilledClient(coordinator);

            assertThat(attempts).hasValueGreaterThan(1);
        }
    }

    @Test
    void shouldRemoveTheRegistrationOfAClientThatEndsItsSession() throws Exception {
        var excluded = new ConcurrentLinkedQueue<Long>();
        var fence =
                new PermissiveFence() {
                    @Override
                    public boolean exclude(long key) {
                        return excluded.add(key);
                    }
                };
        try (var coordinator = start(fence, Duration.ofMinutes(1))) {
            TestClient.open(coordinator, alive).call(Operation.GOODBYE, _ -> {}).end();

            assertThat(excluded).containsExactly(TestClient.KEY);
        }
    }

    @Test
    void shouldRepeatTheRemovalOfARegistrationThatHasFailed() throws Exception {
        var attempts = new AtomicInteger();
        try (var coordinator = start(failingOnce(attempts), Duration.ofMinutes(1))) {
            var client = TestClient.open(coordinator, alive);
            client.call(Operation.GOODBYE, _ -> {}).end();

            var _ = Conditions.await(() -> Optional.of(attempts).filter(each -> each.get() > 1));
            assertThatThrownBy(client::heartbeat).hasMessageContaining("has ended");
            assertThat(coordinator.ended()).isNotDone();
        }
    }

    @Test
    void shouldExcludeNodesWithoutASessionWhenTheCoordinatorStarts() throws Exception {
        var drive = new MemoryDrive(4096);
        var _ = VolumeFormatter.create(drive);
        try (var former =
                new Coordinator(drive, Fence.BY_CLOCK, 1, Duration.ofMinutes(1), () -> {})) {
            var _ = TestClient.open(former, alive);
        }
        var known = new AtomicReference<Set<Long>>();
        var fence =
                new PermissiveFence() {
                    @Override
                    public void excludeUnknown(Set<Long> keys) {
                        known.set(keys);
                    }
                };
        try (var _ = new Coordinator(drive, fence, 2, Duration.ofMinutes(1), () -> {})) {
            assertThat(known.get()).containsExactly(TestClient.KEY);
        }
    }

    @Test
    void shouldAcceptHeartbeatsWhileTheDriveExcludesAClient() throws Exception {
        var isExcluding = new CountDownLatch(1);
        var permission = new CountDownLatch(1);
        var fence =
                new PermissiveFence() {
                    @Override
                    public boolean exclude(long key) throws FabricException {
                        isExcluding.countDown();
                        try {
                            permission.await();
                        } catch (InterruptedException e) {
                            throw new VolumeException("Interrupted", e);
                        }
                        return true;
                    }
                };
        try (var coordinator = start(fence, Duration.ofMinutes(1))) {
            var client = TestClient.open(coordinator, alive);
            var other = TestClient.open(coordinator, alive);
            var exclusion = new FutureTask<>(() -> client.call(Operation.EXCLUDE, _ -> {}));
            Thread.ofPlatform().start(exclusion);
            isExcluding.await();

            client.heartbeat();
            other.heartbeat();
            assertThat(exclusion).isNotDone();

            permission.countDown();
            exclusion.get().end();
        } finally {
            permission.countDown();
        }
    }

    @Test
    void shouldEndTheCoordinatorWhenTheDriveRefusesToExcludeAClient() throws Exception {
        var fence =
                new PermissiveFence() {
                    @Override
                    public boolean exclude(long key) throws FabricException {
                        throw new NvmeException(
                                "preempt", "drive", Status.RESERVATION_CONFLICT.encode());
                    }
                };
        try (var coordinator = start(fence)) {
            var _ = TestClient.open(coordinator, DEAD);

            assertThat(coordinator.ended().get())
                    .isEqualTo("another node has excluded this one from the drive");
        }
    }
}
