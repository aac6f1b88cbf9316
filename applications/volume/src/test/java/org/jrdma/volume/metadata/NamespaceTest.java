package org.jrdma.volume.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Test;

class NamespaceTest {

    private static final Range DATA = new Range(1000, 2000);

    private final Namespace namespace = new Namespace(DATA, 0);

    static byte[] encoded(Namespace namespace) {
        var encoder = new Encoder();
        namespace.encode(encoder);
        return encoder.bytes();
    }

    private long create(long parent, String name, FileType type) throws VolumeException {
        var id = namespace.nextId();
        var _ = namespace.apply(new Change.Create(id, parent, name, type, 0644, 1));
        return id;
    }

    private void assertRejected(Change change, Failure failure) {
        var before = encoded(namespace);

        assertThatThrownBy(() -> namespace.apply(change))
                .isInstanceOf(VolumeException.class)
                .extracting(e -> ((VolumeException) e).failure())
                .isEqualTo(failure);

        assertThat(encoded(namespace)).isEqualTo(before);
    }

    @Test
    void shouldFindAFileByItsPath() throws VolumeException {
        var folder = create(Namespace.ROOT, "folder", FileType.FOLDER);
        var file = create(folder, "file", FileType.FILE);

        assertThat(namespace.find(List.of("folder", "file")).attributes().id()).isEqualTo(file);
    }

    @Test
    void shouldRejectInvalidNames() {
        for (var name : List.of("", ".", "..", "a/b", "a\0b", "x".repeat(256), "\ud800")) {
            assertRejected(
                    new Change.Create(2, Namespace.ROOT, name, FileType.FILE, 0, 0),
                    Failure.INVALID);
        }
    }

    @Test
    void shouldRejectAFolderMovedIntoItself() throws VolumeException {
        var outer = create(Namespace.ROOT, "outer", FileType.FOLDER);
        var inner = create(outer, "inner", FileType.FOLDER);

        assertRejected(
                new Change.Rename(Namespace.ROOT, "outer", inner, "name", 0), Failure.INVALID);
    }

    @Test
    void shouldRejectTheRemovalOfAFolderWithFiles() throws VolumeException {
        var folder = create(Namespace.ROOT, "folder", FileType.FOLDER);
        var _ = create(folder, "file", FileType.FILE);

        assertRejected(new Change.Remove(Namespace.ROOT, "folder", 0), Failure.NOT_EMPTY);
    }

    @Test
    void shouldKeepTheDataOfAReplacedFileUntilItIsFreed() throws VolumeException {
        var first = create(Namespace.ROOT, "first", FileType.FILE);
        var second = create(Namespace.ROOT, "second", FileType.FILE);
        var extent = new FileExtent(0, 1000, 10);
        var _ = namespace.apply(new Change.Commit(first, 40_000, 1, List.of(extent)));

        var freed =
                namespace.apply(
                        new Change.Rename(Namespace.ROOT, "second", Namespace.ROOT, "first", 2));

        assertThat(freed).isEmpty();
        assertThat(namespace.find(List.of("first")).attributes().id()).isEqualTo(second);
        assertThat(namespace.free().free()).isEqualTo(1990);
        assertThat(namespace.apply(new Change.Free(first))).containsExactly(extent);
        assertThat(namespace.free().free()).isEqualTo(2000);
    }

    @Test
    void shouldRejectExtentsThatOverlapOrAreNotFree() throws VolumeException {
        var file = create(Namespace.ROOT, "file", FileType.FILE);
        var other = create(Namespace.ROOT, "other", FileType.FILE);
        var _ =
                namespace.apply(
                        new Change.Commit(file, 40_960, 1, List.of(new FileExtent(0, 1000, 10))));

        for (var added :
                List.of(
                        List.of(new FileExtent(5, 1500, 1)), // the same file block
                        List.of(new FileExtent(10, 999, 1)), // before the data
                        List.of(new FileExtent(10, 2999, 2)), // after the data
                        List.of(new FileExtent(10, 1500, 2), new FileExtent(12, 1501, 1)))) {
            assertRejected(new Change.Commit(file, 1 << 20, 1, added), Failure.INVALID);
        }
        assertRejected(
                new Change.Commit(other, 4096, 1, List.of(new FileExtent(0, 1009, 1))),
                Failure.INVALID);
        assertRejected(
                new Change.Commit(other, 4096, 1, List.of(new FileExtent(0, 1500, 2))),
                Failure.INVALID); // after the size
    }

    @Test
    void shouldFreeTheBlocksBehindANewSize() throws VolumeException {
        var file = create(Namespace.ROOT, "file", FileType.FILE);
        var _ =
                namespace.apply(
                        new Change.Commit(file, 40_960, 1, List.of(new FileExtent(0, 1000, 10))));

        assertThat(namespace.apply(new Change.Truncate(file, 5000, 2)))
                .containsExactly(new FileExtent(2, 1002, 8));
        assertThat(namespace.inode(file).attributes())
                .extracting(Attributes::size, Attributes::revision)
                .containsExactly(5000L, 2L);
    }

    @Test
    void shouldRestoreEveryStateFromItsSnapshotAndRemainConsistent() throws VolumeException {
        var seed = ThreadLocalRandom.current().nextLong();
        System.out.println("Seed: " + seed);
        var changes = new RandomChanges(seed);
        for (var i = 0; i < 3000; i++) {
            var change = changes.applyNext(namespace);
            var encoder = new Encoder();
            change.encode(encoder);
            var decoder = new Decoder(encoder.bytes());

            assertThat(Change.decode(decoder)).as("seed %d", seed).isEqualTo(change);
            decoder.end();
            if (i % 100 == 0) {
                var snapshot = encoded(namespace);
                var restored = Namespace.decode(new Decoder(snapshot));
                assertThat(encoded(restored)).as("seed %d", seed).isEqualTo(snapshot);
                assertThat(restored.encodedBytes()).isEqualTo(namespace.encodedBytes());
                assertThat(VolumeCheck.check(namespace).problems()).as("seed %d", seed).isEmpty();
                assertThat(VolumeCheck.check(restored).problems()).as("seed %d", seed).isEmpty();
            }
        }
        assertThat(namespace.inodes()).hasSizeGreaterThan(20);
    }

    @Test
    void shouldRejectMalformedSnapshotsAndChanges() throws VolumeException {
        var seed = ThreadLocalRandom.current().nextLong();
        System.out.println("Seed: " + seed);
        var random = new java.util.Random(seed);
        var changes = new RandomChanges(seed);
        for (var i = 0; i < 200; i++) {
            var change = changes.applyNext(namespace);
            var encoder = new Encoder();
            change.encode(encoder);
            decodeDamaged(
                    random,
                    encoder.bytes(),
                    decoder -> {
                        var _ = Change.decode(decoder);
                    });
            decodeDamaged(
                    random,
                    encoded(namespace),
                    decoder -> {
                        var _ = Namespace.decode(decoder);
                    });
        }
    }

    @FunctionalInterface
    private interface Decoding {
        void run(Decoder decoder) throws VolumeException;
    }

    /** Decoding either succeeds or throws a VolumeException. */
    private static void decodeDamaged(java.util.Random random, byte[] bytes, Decoding decoding) {
        for (var i = 0; i < 20; i++) {
            var damaged = java.util.Arrays.copyOf(bytes, bytes.length - random.nextInt(2));
            damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
            try {
                decoding.run(new Decoder(damaged));
            } catch (VolumeException e) {
                assertThat(e).hasMessageNotContaining("null");
            }
        }
    }
}
