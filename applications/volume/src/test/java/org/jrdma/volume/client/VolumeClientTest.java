package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.FolderEntry;
import org.jrdma.volume.protocol.RequestHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class VolumeClientTest {

    private static final FilePath FILE = FilePath.of("/file");

    private final LocalCluster cluster;

    VolumeClientTest() throws FabricException {
        cluster = new LocalCluster(8192, 1);
    }

    @AfterEach
    void shouldLeaveAConsistentVolume() throws FabricException {
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    static MemorySegment bytes(String text) {
        return MemorySegment.ofArray(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    static String read(FileHandle file, long position, int bytes) throws FabricException {
        var memory = MemorySegment.ofArray(new byte[bytes]);
        var count = file.read(position, memory);
        return new String(
                memory.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE),
                java.nio.charset.StandardCharsets.UTF_8);
    }

    private static void assertFails(Failure failure, Operation operation) {
        assertThatThrownBy(operation::run)
                .isInstanceOf(VolumeException.class)
                .extracting(e -> ((VolumeException) e).failure())
                .isEqualTo(failure);
    }

    @FunctionalInterface
    interface Operation {
        void run() throws FabricException;
    }

    @Test
    void shouldReadWhatAnotherClientHasWritten() throws FabricException {
        var writer = cluster.newClient("writer");
        var reader = cluster.newClient("reader");
        try (var written = writer.open(FILE, Creation.NEW, 0644);
                var opened = reader.open(FILE, Creation.EXISTING, 0)) {
            written.write(0, bytes("Hello"));
            assertThat(reader.attributes(FILE).size()).isEqualTo(5);
            assertThat(read(opened, 0, 100)).isEqualTo("Hello");
            written.write(5, bytes(", volume"));
            assertThat(read(opened, 0, 100)).isEqualTo("Hello, volume");
            opened.write(0, bytes("J"));
            assertThat(read(written, 0, 100)).isEqualTo("Jello, volume");
        }
    }

    @Test
    void shouldReadHolesAndExtendedFilesAsZeros() throws FabricException {
        var client = cluster.newClient("client");
        try (var file = client.open(FILE, Creation.NEW, 0644)) {
            file.write(0, bytes("secret"));
            file.truncate(2);
            file.write(10_000, bytes("end"));
            assertThat(read(file, 0, 7)).isEqualTo("se\0\0\0\0\0");
            assertThat(read(file, 9_998, 10)).isEqualTo("\0\0end");
            file.truncate(1);
            file.truncate(6);
            assertThat(read(file, 0, 100)).isEqualTo("s\0\0\0\0\0");
        }
    }

    /** Compares a file with an array after random operations of two clients. */
    @Test
    void shouldStoreWhatTwoClientsWriteInTurns() throws FabricException {
        var seed = new Random().nextLong();
        System.out.println("Seed: " + seed);
        var random = new Random(seed);
        var clients = List.of(cluster.newClient("a"), cluster.newClient("b"));
        var expected = new byte[300_000];
        var size = 0;
        try (var first = clients.get(0).open(FILE, Creation.NEW, 0644);
                var second = clients.get(1).open(FILE, Creation.IF_MISSING, 0644)) {
            for (var i = 0; i < 400; i++) {
                var file = random.nextBoolean() ? first : second;
                var position = random.nextInt(200_000);
                var length = 1 + random.nextInt(random.nextInt(5) == 0 ? 100_000 : 5000);
                switch (random.nextInt(10)) {
                    case 0 -> {
                        file.truncate(position);
                        java.util.Arrays.fill(expected, position, expected.length, (byte) 0);
                        size = position;
                    }
                    case 1 -> file.force();
                    case 2, 3, 4, 5 -> {
                        var data = new byte[length];
                        random.nextBytes(data);
                        file.write(position, MemorySegment.ofArray(data));
                        System.arraycopy(data, 0, expected, position, length);
                        size = Math.max(size, position + length);
                    }
                    default -> {
                        var data = new byte[length];
                        var count = file.read(position, MemorySegment.ofArray(data));
                        assertThat(count)
                                .as("seed %d, operation %d", seed, i)
                                .isEqualTo(Math.clamp(size - position, 0, length));
                        assertThat(
                                        java.util.Arrays.mismatch(
                                                data,
                                                0,
                                                count,
                                                expected,
                                                position,
                                                position + count))
                                .as("seed %d, operation %d", seed, i)
                                .isEqualTo(-1);
                    }
                }
                assertThat(file.size()).isEqualTo(size);
            }
        }
    }

    @Test
    void shouldReportModeAndTimeOfAFileWithUncommittedWrites() throws FabricException {
        var client = cluster.newClient("client");
        try (var file = client.open(FILE, Creation.NEW, 0644)) {
            var created = client.attributes(FILE).modified();
            file.write(0, bytes("Hello"));
            client.setAttributes(FILE, OptionalInt.of(0600), OptionalLong.empty());

            var written = client.attributes(FILE);
            assertThat(written.mode()).isEqualTo(0600);
            assertThat(written.modified()).isGreaterThan(created);
            file.force();
            assertThat(client.attributes(FILE).modified()).isEqualTo(written.modified());
        }
    }

    @Test
    void shouldKeepATimeThatAnyClientSetsAfterAWrite() throws FabricException {
        var writer = cluster.newClient("writer");
        var other = cluster.newClient("other");
        try (var file = writer.open(FILE, Creation.NEW, 0644)) {
            for (var client : List.of(writer, other)) {
                file.write(0, bytes("Hello"));
                client.setAttributes(FILE, OptionalInt.empty(), OptionalLong.of(1234));
                file.force();
                assertThat(other.attributes(FILE).modified()).isEqualTo(1234);
            }
            file.write(0, bytes("J"));
        }
        assertThat(other.attributes(FILE).modified()).isGreaterThan(1234);
    }

    @Test
    void shouldListCreateRenameAndRemove() throws FabricException {
        var client = cluster.newClient("client");
        client.createFolder(FilePath.of("/folder"), 0755);
        for (var i = 0; i < 400; i++) {
            client.open(FilePath.of("/folder/file %03d".formatted(i)), Creation.NEW, 0644).close();
        }
        client.rename(FilePath.of("/folder/file 000"), FilePath.of("/moved"), false);

        var after = "";
        var names = new java.util.ArrayList<String>();
        while (true) {
            var entries = client.list(FilePath.of("/folder"), after);
            if (entries.isEmpty()) {
                break;
            }
            names.addAll(entries.stream().map(FolderEntry::name).toList());
            after = names.getLast();
        }
        assertThat(names).hasSize(399).doesNotHaveDuplicates().isSorted();
        assertFails(Failure.NOT_EMPTY, () -> client.remove(FilePath.of("/folder")));
        assertFails(Failure.NOT_FOUND, () -> client.remove(FilePath.of("/folder/file 000")));
        assertFails(
                Failure.EXISTS,
                () -> client.rename(FilePath.of("/moved"), FilePath.of("/folder/file 001"), false));
        assertFails(Failure.EXISTS, () -> client.createFolder(FilePath.of("/folder"), 0755));
        assertFails(Failure.NOT_A_FOLDER, () -> client.createFolder(FilePath.of("/moved/x"), 0755));
        assertFails(
                Failure.IS_A_FOLDER,
                () -> client.open(FilePath.of("/folder"), Creation.EXISTING, 0).close());
    }

    @Test
    void shouldKeepARemovedFileUntilItIsClosed() throws FabricException {
        var client = cluster.newClient("client");
        var other = cluster.newClient("other");
        var free = client.capacity().free();
        try (var file = client.open(FILE, Creation.NEW, 0644)) {
            file.write(0, bytes("content"));
            file.force();
            other.remove(FILE);
            assertThat(read(file, 0, 10)).isEqualTo("content");
            file.write(7, bytes("!"));
            assertThat(read(file, 0, 10)).isEqualTo("content!");
        }
        assertThat(client.capacity().free()).isEqualTo(free);
        assertThat(client.capacity().files()).isEqualTo(1);
    }

    @Test
    void shouldReportAFullVolumeAndContinueAfterFilesWereRemoved() throws FabricException {
        var client = cluster.newClient("client");
        var data = MemorySegment.ofArray(new byte[1 << 20]);
        try (var file = client.open(FILE, Creation.NEW, 0644)) {
            assertFails(
                    Failure.NO_SPACE,
                    () -> {
                        while (true) {
                            var _ = file.append(data);
                        }
                    });
            assertThat(file.size()).isGreaterThan(25 << 20);
            file.truncate(0);
            var _ = file.append(data);
        }
    }

    @Test
    void shouldExcludeConflictingLocks() throws Exception {
        var first = cluster.newClient("first");
        var requests = new AtomicInteger();
        var second =
                cluster.newClient(
                        "second",
                        Optional.of(cluster.drive()),
                        (addresses, incoming, timeout) ->
                                new LockCounter(
                                        cluster.connector().connect(addresses, incoming, timeout),
                                        requests));
        try (var a = first.open(FILE, Creation.NEW, 0644);
                var b = second.open(FILE, Creation.EXISTING, 0)) {
            assertThat(a.lock(0, 10, false, false)).isTrue();
            assertThat(b.lock(9, 20, true, false)).isFalse();
            assertThat(b.lock(10, 20, true, false)).isTrue();
            assertThat(a.lock(15, 16, true, false)).isTrue();
            requests.set(0);
            var waiting =
                    CompletableFuture.supplyAsync(() -> {
                        try {
                            return b.lock(0, 5, false, true);
                        } catch (FabricException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    });
            while (requests.get() < 2
                    && !waiting.isDone()) { // the reply to the first one is: retry
                Thread.sleep(5);
            }
            assertThat(waiting).isNotDone();
            a.unlock(0, 10, false);
            assertThat(waiting.get()).isTrue();
        }
    }

    /** A connection that counts the requests for locks. */
    private static final class LockCounter extends DelegatingConnection {

        private final AtomicInteger requests;

        LockCounter(ServerConnector.Connection connection, AtomicInteger requests) {
            super(connection);
            this.requests = requests;
        }

        @Override
        public ByteBuffer call(ByteBuffer request, Duration timeout) throws FabricException {
            var header = RequestHeader.decode(new Decoder(request.duplicate()));
            if (header.operation() == org.jrdma.volume.protocol.Operation.LOCK) {
                requests.incrementAndGet();
            }
            return super.call(request, timeout);
        }
    }

    @Test
    void shouldContinueAfterTakeoversWithoutAnError() throws Exception {
        var _ = cluster.startServer();
        var _ = cluster.startServer();
        var client = cluster.newClient("client");
        var other = cluster.newClient("other");
        try (var file = client.open(FILE, Creation.NEW, 0644);
                var observed = other.open(FILE, Creation.EXISTING, 0)) {
            file.write(0, bytes("first"));
            assertThat(file.lock(0, 1, false, false)).isTrue();
            cluster.coordinator().kill();
            file.write(5, bytes(", second"));
            file.force();
            assertThat(read(observed, 0, 100)).isEqualTo("first, second");
            assertThat(observed.lock(0, 1, false, false)).isFalse();

            cluster.coordinator().kill();
            client.rename(FILE, FilePath.of("/renamed"), false);
            assertThat(read(observed, 0, 100)).isEqualTo("first, second");
        }
    }

    @Test
    void shouldEndTheSessionOfAClientThatDoesNotRespond() throws Exception {
        var isCut = new AtomicBoolean();
        var connector = cluster.connector();
        var silent =
                cluster.newClient(
                        "silent",
                        Optional.of(cluster.drive()),
                        (addresses, incoming, timeout) -> {
                            if (isCut.get()) {
                                throw new VolumeException("cut on purpose");
                            }
                            return new CutConnection(
                                    connector.connect(addresses, incoming, timeout), isCut);
                        });
        var other = cluster.newClient("other");
        var file = silent.open(FILE, Creation.NEW, 0644);
        file.write(0, bytes("lost"));
        isCut.set(true);
        try (var handle = other.open(FILE, Creation.EXISTING, 0)) {
            handle.write(0, bytes("new"));
            assertThat(read(handle, 0, 10)).isEqualTo("new");
            isCut.set(false);
            assertThatThrownBy(() -> file.write(0, bytes("late")))
                    .isInstanceOf(VolumeException.class)
                    .hasMessageContaining("/file");
            assertThat(read(handle, 0, 10)).isEqualTo("new");
        }
        assertThatThrownBy(
                        () -> {
                            try (file) {
                                file.write(0, bytes("late"));
                            }
                        })
                .isInstanceOf(VolumeException.class);
        try (var again = silent.open(FILE, Creation.EXISTING, 0)) {
            assertThat(read(again, 0, 10)).isEqualTo("new");
        }
    }

    /** A connection that can be cut in both directions. */
    private static final class CutConnection extends DelegatingConnection {

        private final AtomicBoolean isCut;

        CutConnection(ServerConnector.Connection connection, AtomicBoolean isCut) {
            super(connection);
            this.isCut = isCut;
        }

        private void check() throws VolumeException {
            if (isCut.get()) {
                close();
                throw new VolumeException("cut on purpose");
            }
        }

        @Override
        public ByteBuffer call(ByteBuffer request, Duration timeout) throws FabricException {
            check();
            return super.call(request, timeout);
        }

        @Override
        public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration timeout)
                throws FabricException {
            check();
            return super.send(request, source, timeout);
        }

        @Override
        public ByteBuffer receive(ByteBuffer request, MemorySegment target, Duration timeout)
                throws FabricException {
            check();
            return super.receive(request, target, timeout);
        }
    }

    @Test
    void shouldRejectADriveWithAnotherVolume() throws FabricException {
        var other = new MemoryDrive(8192);
        var _ = VolumeFormatter.create(other);

        assertFails(Failure.INVALID, () -> cluster.newClient("client", Optional.of(other)));
    }

    @Test
    void shouldRedirectBlocksWhileThePathToTheDriveIsCut() throws Exception {
        var _ = cluster.coordinator();
        var _ = cluster.serveBlocks(0);
        var path = new LocalCluster.CutDrive(cluster.drive());
        var client = cluster.newClient("client", Optional.of(path));
        var remote = cluster.newClient("remote", Optional.empty());
        try (var file = client.open(FILE, Creation.NEW, 0644);
                var other = remote.open(FILE, Creation.EXISTING, 0)) {
            file.write(0, bytes("direct"));
            assertThat(client.describe()).contains("direct");
            path.cut(true);
            file.write(6, bytes(", redirected"));
            assertThat(client.describe()).contains("redirected").contains("cut on purpose");
            assertThat(read(file, 0, 100)).isEqualTo("direct, redirected");
            assertThat(read(other, 0, 100)).isEqualTo("direct, redirected");
            other.write(0, bytes("D"));
            path.cut(false);
            while (client.describe().contains("redirected")) {
                Thread.sleep(10);
            }
            assertThat(read(file, 0, 100)).isEqualTo("Direct, redirected");
        }
    }

    @Test
    void shouldServeConcurrentWritersOfOneFile() throws Exception {
        var start = new CountDownLatch(1);
        var tasks = new java.util.ArrayList<CompletableFuture<Void>>();
        cluster.newClient("creator").open(FILE, Creation.NEW, 0644).close();
        for (var number = 0; number < 4; number++) {
            var client = cluster.newClient("client " + number);
            tasks.add(
                    CompletableFuture.runAsync(
                            () -> {
                                try (var file = client.open(FILE, Creation.EXISTING, 0)) {
                                    start.await();
                                    for (var i = 0; i < 50; i++) {
                                        var _ = file.append(bytes("x"));
                                    }
                                } catch (FabricException | InterruptedException e) {
                                    throw new IllegalStateException(e);
                                }
                            },
                            command -> Thread.ofVirtual().start(command)));
        }
        start.countDown();
        for (var task : tasks) {
            task.get();
        }
        assertThat(cluster.newClient("reader").attributes(FILE).size()).isEqualTo(200);
    }
}
