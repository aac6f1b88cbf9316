package org.jrdma.volume.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.Attributes;
import org.jrdma.volume.metadata.FileExtent;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.BlockRangeEncoding;
import org.jrdma.volume.protocol.ByteLock;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.LeaseMode;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.PeerConnection;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the requests for leases and locks of clients that reconnect or answer late. */
class LateOrReconnectedClientRequestsTest {

    /** A connection whose client returns leases at once. Each object is another connection. */
    private static final class IdleLink implements PeerConnection {
        @Override
        public ByteBuffer call(ByteBuffer request, Duration timeout) {
            return ByteBuffer.wrap(ReplyEncoding.empty());
        }
    }

    private Coordinator coordinator;

    @BeforeEach
    void startCoordinator() throws FabricException {
        var drive = new MemoryDrive(4096);
        var _ = VolumeFormatter.create(drive);
        coordinator = new Coordinator(drive, Fence.BY_CLOCK, 1, Duration.ofSeconds(60), () -> {});
    }

    @AfterEach
    void closeCoordinator() {
        coordinator.close();
    }

    /** Returns the number of the file. */
    static long open(TestClient client) throws VolumeException {
        var reply =
                client.call(
                        Operation.OPEN,
                        request -> {
                            FilePath.of("/file").encode(request);
                            request.writeByte(1); // create it if it is missing
                            request.writeInt(0644);
                        });
        return Attributes.decode(reply).id();
    }

    static void acquireWriteLease(TestClient client, long file) throws VolumeException {
        var _ =
                client.call(
                        Operation.LEASE,
                        request -> {
                            request.writeLong(file);
                            request.writeEnum(LeaseMode.WRITE);
                        });
    }

    private static List<Range> allocate(TestClient client, long file, long blocks)
            throws VolumeException {
        return BlockRangeEncoding.decode(
                client.call(
                        Operation.ALLOCATE,
                        request -> {
                            request.writeLong(file);
                            request.writeLong(blocks);
                            request.writeLong(blocks);
                            request.writeLong(0);
                        }));
    }

    @Test
    void shouldRejectTheReportOfALeaseThatNoEarlierCoordinatorGranted() throws FabricException {
        var client = TestClient.open(coordinator, new IdleLink());
        var file = open(client);

        assertThatExceptionOfType(VolumeException.class)
                .isThrownBy(() ->
                        client.call(
                                Operation.RECLAIM,
                                request -> {
                                    request.writeLong(file);
                                    request.writeEnum(LeaseMode.WRITE);
                                    request.writeLong(Long.MAX_VALUE);
                                    BlockRangeEncoding.encode(request, List.of());
                                    request.writeInt(0);
                                }))
                .withMessageContaining("lease");
    }

    @Test
    void shouldLimitTheLocksThatUnlockingSplits() throws FabricException {
        var client = TestClient.open(coordinator, new IdleLink());
        var file = open(client);
        lock(client, file, false);
        var _ =
                client.call(
                        Operation.LOCK,
                        request -> {
                            request.writeLong(file);
                            new ByteLock(1, 0, 10_000, false).encode(request);
                            request.writeBoolean(false);
                        });

        assertThatExceptionOfType(VolumeException.class)
                .isThrownBy(() -> {
                    for (var start = 1L; start < 10_000; start += 2) {
                        var range = new ByteLock(1, start, start + 1, false);
                        var _ =
                                client.call(
                                        Operation.UNLOCK,
                                        request -> {
                                            request.writeLong(file);
                                            range.encode(request);
                                        });
                    }
                })
                .returns(Failure.NO_SPACE, VolumeException::failure);
    }

    @Test
    void shouldRejectAnAllocationOfNoBlocks() throws FabricException {
        var client = TestClient.open(coordinator, new IdleLink());
        var file = open(client);
        acquireWriteLease(client, file);

        assertThatExceptionOfType(VolumeException.class)
                .isThrownBy(() -> allocate(client, file, 0))
                .returns(Failure.INVALID, VolumeException::failure);
    }

    private static void commit(TestClient client, long file, Range range) throws VolumeException {
        var _ =
                client.call(
                        Operation.COMMIT,
                        request -> {
                            request.writeLong(file);
                            request.writeLong(100);
                            request.writeLong(0);
                            request.writeList(
                                    List.of(new FileExtent(0, range.block(), 1)),
                                    (target, extent) -> extent.encode(target));
                        });
    }

    @Test
    void shouldKeepTheReservedBlocksOfALeaseWhenTheReplyToTheRecallOfAnEarlierLeaseIsLate()
            throws FabricException {
        var holder = new AtomicReference<TestClient>();
        var recalls = new AtomicInteger();
        var blocks = new AtomicReference<Range>();
        PeerConnection link =
                (request, timeout) -> {
                    if (recalls.incrementAndGet() == 1) { // gives up the lease, and needs it again
                        acquireWriteLease(holder.get(), 2);
                        blocks.set(allocate(holder.get(), 2, 1).getFirst());
                    } else {
                        commit(holder.get(), 2, blocks.get());
                    }
                    return ByteBuffer.wrap(ReplyEncoding.empty());
                };
        holder.set(TestClient.open(coordinator, link));
        assertThat(open(holder.get())).isEqualTo(2);
        acquireWriteLease(holder.get(), 2);

        var other = TestClient.open(coordinator, new IdleLink());
        assertThat(open(other)).isEqualTo(2);
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> acquireWriteLease(other, 2));

        assertThat(recalls).hasValue(2);
    }

    @Test
    void shouldRejectRequestsFromAnEarlierConnectionOfAClient() throws FabricException {
        var earlier = TestClient.open(coordinator, new IdleLink());
        var file = open(earlier);
        var current = TestClient.reconnect(earlier, new IdleLink());

        assertThatExceptionOfType(VolumeException.class)
                .isThrownBy(() -> lock(earlier, file, false))
                .returns(Failure.NOT_COORDINATOR, VolumeException::failure)
                .withMessageContaining("another connection");
        lock(current, file, false);
    }

    @Test
    void shouldEndTheWaitForALockWhenTheClientConnectsAgain() throws Exception {
        var holder = TestClient.open(coordinator, new IdleLink());
        var file = open(holder);
        lock(holder, file, false);
        var earlier = TestClient.open(coordinator, new IdleLink());
        var failure = new AtomicReference<VolumeException>();
        var waiting =
                Thread.ofVirtual()
                        .start(() -> {
                            try {
                                lock(earlier, file, true);
                            } catch (VolumeException e) {
                                failure.set(e);
                            }
                        });
        var _ = TestClient.reconnect(earlier, new IdleLink());

        assertThat(waiting.join(Duration.ofSeconds(20))).isTrue();
        assertThat(failure.get()).hasMessageContaining("another connection");
    }

    private static void lock(TestClient client, long file, boolean isWaiting)
            throws VolumeException {
        var _ =
                client.call(
                        Operation.LOCK,
                        request -> {
                            request.writeLong(file);
                            new ByteLock(1, 0, 8, false).encode(request);
                            request.writeBoolean(isWaiting);
                        });
    }
}
