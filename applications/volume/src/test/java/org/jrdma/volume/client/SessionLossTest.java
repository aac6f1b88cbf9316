package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.RequestHeader;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the exceptions that a program gets if the session of its client ends during an operation.
 */
@Timeout(60)
class SessionLossTest {

    private static final FilePath FILE = FilePath.of("/file");

    private final LocalCluster cluster;
    private final FileHandle file;
    private volatile @Nullable Operation cutAt;
    private volatile boolean isCut;

    /** Runs once when a client whose data is redirected flushes the drive. */
    private volatile @Nullable Action duringFlush;

    @FunctionalInterface
    private interface Action {
        void run() throws FabricException;
    }

    SessionLossTest() throws FabricException {
        cluster = new LocalCluster(8192, 1);
        file =
                cluster.newClient("client", Optional.of(cluster.drive()), this::connect)
                        .open(FILE, Creation.NEW, 0644);
    }

    @AfterEach
    void stop() throws FabricException {
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    /** Connects the client, unless its path to the coordinator is cut. */
    private ServerConnector.Connection connect(
            List<String> addresses, UnaryOperator<ByteBuffer> incoming, Duration timeout)
            throws FabricException {
        check();
        return new DelegatingConnection(cluster.connector().connect(addresses, incoming, timeout)) {
            @Override
            public ByteBuffer call(ByteBuffer request, Duration limit) throws FabricException {
                var operation = RequestHeader.decode(new Decoder(request)).operation();
                var action = duringFlush;
                if (operation == Operation.FLUSH_BLOCKS && action != null) {
                    duringFlush = null;
                    action.run();
                }
                if (operation == cutAt) {
                    isCut = true;
                }
                check();
                return super.call(request, limit);
            }
        };
    }

    private void check() throws VolumeException {
        if (isCut) {
            throw new VolumeException("cut on purpose");
        }
    }

    private static MemorySegment block() {
        return MemorySegment.ofArray(new byte[4096]);
    }

    /** Writes with another client, which has to wait for the end of the session. */
    private void writeWithAnotherClient() throws FabricException {
        try (var other = cluster.newClient("other").open(FILE, Creation.EXISTING, 0)) {
            other.write(0, block());
        }
        cutAt = null;
        isCut = false;
    }

    private void assertThatTheNextWriteReportsTheLoss() {
        assertThatTheNextWriteReportsTheLoss(file);
    }

    private static void assertThatTheNextWriteReportsTheLoss(FileHandle handle) {
        assertThatExceptionOfType(VolumeException.class)
                .isThrownBy(() -> handle.write(0, block()))
                .satisfies(e -> assertThat(e.failure()).isEqualTo(Failure.SESSION_LOST));
    }

    /** Lets another client write when the path of this client was cut. */
    private CompletableFuture<Void> startWriteOfAnotherClient() {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        while (!isCut) {
                            Thread.sleep(1);
                        }
                        writeWithAnotherClient();
                    } catch (FabricException | InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                },
                task -> Thread.ofPlatform().daemon().start(task));
    }

    /** The lease would otherwise belong to the next session, in which the file is not locked. */
    @Test
    void shouldNotWriteIfALockIsLostDuringTheRequestOfALease() throws Exception {
        file.write(0, MemorySegment.ofArray(new byte[] {1}));
        assertThat(file.lock(0, 1, false, true)).isTrue();
        var reader = cluster.newClient("reader").open(FILE, Creation.EXISTING, 0);
        assertThat(reader.read(0, block())).isEqualTo(1); // now the next write needs a lease
        cutAt = Operation.LEASE;
        var other = startWriteOfAnotherClient();
        assertThatExceptionOfType(VolumeException.class)
                .isThrownBy(() -> file.write(0, MemorySegment.ofArray(new byte[] {1})))
                .satisfies(e -> assertThat(e.failure()).isEqualTo(Failure.SESSION_LOST));
        other.join();
        var content = block();
        assertThat(reader.read(0, content)).isEqualTo(4096);
        assertThat(content.get(ValueLayout.JAVA_BYTE, 0)).isZero();
        assertThatExceptionOfType(VolumeException.class).isThrownBy(() -> file.read(0, block()));
    }

    @Test
    void shouldReportASessionThatEndsDuringAnAllocation() throws Exception {
        file.truncate(0); // under a lease for writing, without reserved blocks
        cutAt = Operation.ALLOCATE;
        var other = startWriteOfAnotherClient();
        assertThatTheNextWriteReportsTheLoss();
        other.join();
        assertThat(file.read(0, block())).isEqualTo(4096);
    }

    /** The commit would otherwise be sent in the next session, which has no lease. */
    @Test
    void shouldReportASessionThatEndsBeforeTheCommitOfARecall() throws Exception {
        var _ = cluster.serveBlocks(0);
        var client = cluster.newClient("redirected", Optional.empty(), this::connect);
        var redirected = client.open(FILE, Creation.EXISTING, 0);
        redirected.write(0, block());
        var isOver = new CountDownLatch(1);
        duringFlush =
                () -> {
                    isCut = true;
                    await(isOver);
                    var _ = client.attributes(FILE); // connects again, in a new session
                };
        writeWithAnotherClient();
        isOver.countDown();
        assertThatTheNextWriteReportsTheLoss(redirected);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Another client can have changed what the holder of the lock has read. */
    @Test
    void shouldRejectAccessesAfterTheSessionEndedWhileALockWasHeld() throws Exception {
        assertThat(file.lock(0, 1, false, false)).isTrue();
        file.force();
        isCut = true;
        try (var other = cluster.newClient("other").open(FILE, Creation.EXISTING, 0)) {
            assertThat(other.lock(0, 1, false, true)).isTrue();
            isCut = false;
            assertThatTheNextWriteReportsTheLoss();
            assertThatExceptionOfType(VolumeException.class)
                    .isThrownBy(() -> file.read(0, block()))
                    .withMessageContaining("the locks on /file");
        }
    }

    @Test
    void shouldReportASessionThatEndsDuringTheCommitOfARecall() throws Exception {
        file.write(0, block());
        cutAt = Operation.COMMIT;
        writeWithAnotherClient();
        assertThatTheNextWriteReportsTheLoss();
    }
}
