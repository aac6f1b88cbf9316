package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.PermissiveFence;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the paths over which clients access data, and when they must not. */
@Timeout(60)
class DataPathTest {

    private static final FilePath FILE = FilePath.of("/file");
    private static final int PART_BYTES = 64 * 1024;

    private final LocalCluster cluster;

    DataPathTest() throws FabricException {
        cluster = new LocalCluster(8192, 1);
    }

    @AfterEach
    void stop() throws FabricException {
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    private static MemorySegment bytes(int count, char value) {
        var bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return MemorySegment.ofArray(bytes);
    }

    private static String read(FileHandle file, long position, int count) throws FabricException {
        var bytes = new byte[count];
        var read = file.read(position, MemorySegment.ofArray(bytes));
        return new String(bytes, 0, read, StandardCharsets.UTF_8);
    }

    @FunctionalInterface
    private interface Action {
        void run() throws Exception;
    }

    private static CompletableFuture<Void> start(Action action) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        action.run();
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                },
                task -> Thread.ofPlatform().start(task));
    }

    /** Cuts the calls of a client, but not its transfers of blocks. */
    private ServerConnector cutting(AtomicBoolean isCut, Action afterSend) {
        return (addresses, incoming, timeout) -> {
            if (isCut.get()) {
                throw new VolumeException("cut on purpose");
            }
            return new DelegatingConnection(
                    cluster.connector()
                            .connect(
                                    addresses,
                                    request -> {
                                        var cut = new VolumeException("cut on purpose");
                                        return isCut.get()
                                                ? ByteBuffer.wrap(ReplyEncoding.failure(cut))
                                                : incoming.apply(request);
                                    },
                                    timeout)) {
                @Override
                public ByteBuffer call(ByteBuffer request, Duration limit) throws FabricException {
                    if (isCut.get()) {
                        throw new VolumeException("cut on purpose");
                    }
                    return super.call(request, limit);
                }

                @Override
                public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration limit)
                        throws FabricException {
                    var reply = super.send(request, source, limit);
                    try {
                        afterSend.run();
                    } catch (Exception e) {
                        throw new VolumeException("Interrupted", e);
                    }
                    return reply;
                }
            };
        };
    }

    /** A path to the drive whose writes wait for a permission. */
    private final class GatedDrive implements Drive {

        private final CountDownLatch isWriting = new CountDownLatch(1);
        private final CountDownLatch permission = new CountDownLatch(1);
        private final AtomicInteger registrations = new AtomicInteger();

        @Override
        public long blocks() {
            return cluster.drive().blocks();
        }

        @Override
        public void read(long block, MemorySegment target) throws FabricException {
            cluster.drive().read(block, target);
        }

        @Override
        public void write(long block, MemorySegment source) throws FabricException {
            isWriting.countDown();
            try {
                permission.await();
            } catch (InterruptedException e) {
                throw new VolumeException("Interrupted", e);
            }
        }

        @Override
        public void flush() throws FabricException {
            cluster.drive().flush();
        }

        @Override
        public Fence fence() {
            return new PermissiveFence() {
                @Override
                public void register(long key) {
                    registrations.incrementAndGet();
                }
            };
        }

        @Override
        public void close() {}
    }

    @Test
    void shouldNotRegisterForTheNextSessionDuringAWriteOfThePreviousOne() throws Exception {
        var isCut = new AtomicBoolean();
        var drive = new GatedDrive();
        var client = cluster.newClient("client", Optional.of(drive), cutting(isCut, () -> {}));
        var file = client.open(FILE, Creation.NEW, 0644);
        var late = start(() -> file.write(0, bytes(4096, 'a')));
        drive.isWriting.await();
        isCut.set(true);
        try (var other = cluster.newClient("other").open(FILE, Creation.EXISTING, 0)) {
            other.write(0, bytes(4096, 'b')); // after the session of the first client has ended
        }
        isCut.set(false);
        Thread.sleep(LocalCluster.SESSION_TIMEOUT);

        assertThat(drive.registrations).hasValue(1);

        drive.permission.countDown();
        assertThatThrownBy(late::join).hasCauseInstanceOf(VolumeException.class);
        while (drive.registrations.get() < 2) {
            Thread.sleep(10);
        }
    }

    @Test
    void shouldNotContinueARedirectedWriteInTheNextSession() throws Exception {
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
        var isCut = new AtomicBoolean();
        var sent = new AtomicInteger();
        var isSent = new CountDownLatch(1);
        var permission = new CountDownLatch(1);
        var isGated = new AtomicBoolean();
        var client =
                cluster.newClient(
                        "client",
                        Optional.empty(),
                        cutting(
                                isCut,
                                () -> {
                                    if (isGated.get() && sent.incrementAndGet() == 1) {
                                        isSent.countDown();
                                        permission.await();
                                    }
                                }));
        var file = client.open(FILE, Creation.NEW, 0644);
        file.write(0, bytes(3 * PART_BYTES, 'a'));
        file.force();
        isGated.set(true);
        var late = start(() -> file.write(0, bytes(3 * PART_BYTES, 'b')));
        isSent.await();
        isCut.set(true);
        try (var other = cluster.newClient("other").open(FILE, Creation.EXISTING, 0)) {
            other.write(0, bytes(3 * PART_BYTES, 'c'));
            isCut.set(false);
            Thread.sleep(LocalCluster.SESSION_TIMEOUT); // the client gets its next session
            permission.countDown();

            assertThatThrownBy(late::join).hasCauseInstanceOf(VolumeException.class);
            assertThat(read(other, 2L * PART_BYTES, 3)).isEqualTo("ccc");
        }
    }

    @Test
    void shouldNotUseTheBlocksOfATruncatedFileWhoseReplyWasLost() throws Exception {
        var isLost = new AtomicBoolean();
        var client =
                cluster.newClient(
                        "client",
                        Optional.of(cluster.drive()),
                        (addresses, incoming, timeout) ->
                                new DelegatingConnection(
                                        cluster.connector().connect(addresses, incoming, timeout)) {
                                    @Override
                                    public ByteBuffer call(ByteBuffer request, Duration limit)
                                            throws FabricException {
                                        var operation =
                                                RequestHeader.decode(new Decoder(request))
                                                        .operation();
                                        var reply = super.call(request, limit);
                                        if (operation == Operation.TRUNCATE && isLost.get()) {
                                            Thread.currentThread().interrupt();
                                            throw new VolumeException("The reply was lost");
                                        }
                                        return reply;
                                    }
                                });
        var file = client.open(FILE, Creation.NEW, 0644);
        file.write(0, bytes(4 << 20, 'a'));
        isLost.set(true);
        assertThatThrownBy(() -> file.truncate(0)).hasMessageContaining("Interrupted");
        assertThat(Thread.interrupted()).isTrue();
        isLost.set(false);

        var next = cluster.newClient("other").open(FilePath.of("/next"), Creation.NEW, 0644);
        next.write(0, bytes(4096, 'n'));
        file.write(0, bytes(4096, 'b'));

        assertThat(read(next, 0, 3)).isEqualTo("nnn");
        assertThat(read(file, 0, 5000)).isEqualTo("b".repeat(4096));
        file.close();
        next.close();
    }

    @Test
    void shouldRejectAccessesAfterTheHandleOrTheVolumeWasClosed() throws FabricException {
        var client = cluster.newClient("client");
        var file = client.open(FILE, Creation.NEW, 0644);
        var last = client.open(FILE, Creation.EXISTING, 0);
        file.write(0, bytes(3, 'a'));
        file.close();

        assertThatThrownBy(() -> file.write(0, bytes(3, 'b')))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("/file");

        client.close();
        assertThatThrownBy(() -> last.write(0, bytes(3, 'c')))
                .isInstanceOf(IllegalStateException.class);
        try (var other = cluster.newClient("other").open(FILE, Creation.EXISTING, 0)) {
            assertThat(read(other, 0, 3)).isEqualTo("aaa");
        }
    }

    @Test
    void shouldTryTheDirectPathRarelyIfTheDriveRefusesTheWritesOfTheClient() throws Exception {
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
        var path =
                new LocalCluster.CutDrive(cluster.drive()) {
                    @Override
                    public void write(long block, MemorySegment source) throws FabricException {
                        throw new VolumeException("reservation conflict");
                    }
                };
        var client = cluster.newClient("client", Optional.of(path));
        try (var file = client.open(FILE, Creation.NEW, 0644)) {
            Thread.sleep(LocalCluster.SESSION_TIMEOUT); // a heartbeat reports the data server
            for (var end = System.nanoTime() + 5_000_000_000L; System.nanoTime() - end < 0; ) {
                file.write(0, bytes(4096, 'a'));
                Thread.sleep(10);
            }
        }

        assertThat(client.state().data().switches()).isBetween(1, 14);
    }

    /** A path to a drive that refuses registrations on demand, and writes before one. */
    private final class ReservedDrive extends LocalCluster.CutDrive implements Fence {

        private volatile boolean isFailing;
        private volatile boolean isRegistered;

        ReservedDrive() {
            super(cluster.drive());
        }

        @Override
        public void write(long block, MemorySegment source) throws FabricException {
            if (!isRegistered) {
                throw new VolumeException("reservation conflict");
            }
            super.write(block, source);
        }

        @Override
        public Fence fence() {
            return this;
        }

        @Override
        public void register(long key) throws VolumeException {
            if (isFailing) {
                throw new VolumeException("The registration fails on purpose");
            }
            isRegistered = true;
        }

        @Override
        public void unregister(long key) {
            isRegistered = false;
        }

        @Override
        public void lead(long key, long predecessor) {}

        @Override
        public boolean exclude(long key) {
            return false;
        }

        @Override
        public void excludeUnknown(Set<Long> known) {}
    }

    @Test
    void shouldRegisterWhenTheDriveWorksIfTheFirstRegistrationHasFailed() throws Exception {
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
        var path = new ReservedDrive();
        path.isFailing = true;
        var client = cluster.newClient("client", Optional.of(path));
        try (var file = client.open(FILE, Creation.NEW, 0644)) {
            Thread.sleep(LocalCluster.SESSION_TIMEOUT); // a heartbeat reports the data server
            file.write(0, bytes(4096, 'a'));
            assertThat(path.isRegistered).isFalse();

            path.isFailing = false;
            while (!path.isRegistered
                    || client.state().data().kind() != DataPathState.Kind.DIRECT) {
                file.write(0, bytes(4096, 'a')); // the client may have returned too early
                Thread.sleep(10);
            }
            var switches = client.state().data().switches();
            file.write(0, bytes(4096, 'b'));
            assertThat(client.state().data().switches()).isEqualTo(switches);
        }
    }

    /** A write that has failed may be pending at the drive, and must not overwrite a later one. */
    @Test
    void shouldExcludeTheClientFromTheDriveBeforeItsWritesAreRedirected() throws Exception {
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
        var path = new ReservedDrive();
        var requests = new ConcurrentLinkedQueue<Operation>();
        ServerConnector connector =
                (addresses, incoming, timeout) ->
                        new DelegatingConnection(
                                cluster.connector().connect(addresses, incoming, timeout)) {
                            private void record(ByteBuffer request) throws VolumeException {
                                var header = new Decoder(request.duplicate());
                                requests.add(RequestHeader.decode(header).operation());
                            }

                            @Override
                            public ByteBuffer call(ByteBuffer request, Duration limit)
                                    throws FabricException {
                                record(request);
                                return super.call(request, limit);
                            }

                            @Override
                            public ByteBuffer send(
                                    ByteBuffer request, MemorySegment source, Duration limit)
                                    throws FabricException {
                                record(request);
                                return super.send(request, source, limit);
                            }
                        };
        var client = cluster.newClient("client", Optional.of(path), connector);
        try (var file = client.open(FILE, Creation.NEW, 0644)) {
            Thread.sleep(LocalCluster.SESSION_TIMEOUT); // a heartbeat reports the data server
            file.write(0, bytes(4096, 'a'));
            assertThat(requests).doesNotContain(Operation.EXCLUDE, Operation.WRITE_BLOCKS);

            path.cut(true);
            path.isRegistered = false; // as the coordinator has excluded the client
            file.write(0, bytes(4096, 'b'));
            assertThat(requests).containsSubsequence(Operation.EXCLUDE, Operation.WRITE_BLOCKS);

            path.cut(false);
            while (!path.isRegistered
                    || client.state().data().kind() != DataPathState.Kind.DIRECT) {
                Thread.sleep(10);
            }
        }
    }

    @Test
    void shouldKeepThePathWhenAThreadIsInterrupted() throws FabricException {
        var path =
                new LocalCluster.CutDrive(cluster.drive()) {
                    @Override
                    public void write(long block, MemorySegment source) throws FabricException {
                        if (Thread.currentThread().isInterrupted()) {
                            throw new VolumeException("Interrupted");
                        }
                        super.write(block, source);
                    }
                };
        var client = cluster.newClient("client", Optional.of(path));
        try (var file = client.open(FILE, Creation.NEW, 0644)) {
            file.write(0, bytes(4096, 'a'));
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> file.write(0, bytes(4096, 'b')))
                    .hasMessageContaining("Interrupted");
            assertThat(Thread.interrupted()).isTrue();

            assertThat(client.state().data().kind()).isEqualTo(DataPathState.Kind.DIRECT);
            assertThat(client.state().data().switches()).isZero();
        }
    }

    @Test
    void shouldFlushBytesThatACommitShowsInABlockOfTheFile() throws FabricException {
        var flushes = new AtomicInteger();
        var path =
                new LocalCluster.CutDrive(cluster.drive()) {
                    @Override
                    public void flush() throws FabricException {
                        flushes.incrementAndGet();
                        super.flush();
                    }
                };
        var client = cluster.newClient("client", Optional.of(path));
        var other = cluster.newClient("other");
        try (var file = client.open(FILE, Creation.NEW, 0644)) {
            file.write(0, bytes(10, 'a'));
            file.force();
            var before = flushes.get();
            file.write(10, bytes(10, 'b'));

            assertThat(other.attributes(FILE).size()).isEqualTo(20); // the client has committed it
            assertThat(flushes).hasValueGreaterThan(before);
        }
    }
}
