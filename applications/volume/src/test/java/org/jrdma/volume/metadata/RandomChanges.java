package org.jrdma.volume.metadata;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jrdma.volume.model.VolumeException;

/** Random changes, most of them valid. */
final class RandomChanges {

    private static final int NAMES = 12;

    private final Random random;
    private long time;

    RandomChanges(long seed) {
        this.random = new Random(seed);
    }

    /** Applies a valid change to a namespace and returns it. */
    Change applyNext(Namespace namespace) {
        while (true) {
            var change = next(namespace);
            try {
                var _ = namespace.apply(change);
                return change;
            } catch (VolumeException e) {
                // the next one may be valid
            }
        }
    }

    Change next(Namespace namespace) {
        time++;
        return switch (random.nextInt(12)) {
            case 0, 1, 2 ->
                    new Change.Create(
                            namespace.nextId(),
                            inode(namespace),
                            name(),
                            random.nextInt(3) == 0 ? FileType.FOLDER : FileType.FILE,
                            0644,
                            time);
            case 3 -> new Change.Remove(inode(namespace), name(), time);
            case 4 -> new Change.Rename(inode(namespace), name(), inode(namespace), name(), time);
            case 5, 6, 7 -> commit(namespace);
            case 8 -> new Change.Truncate(inode(namespace), random.nextLong(100) * 1000, time);
            case 9 -> new Change.SetAttributes(inode(namespace), random.nextInt(512), time);
            case 10 -> new Change.Free(inode(namespace));
            default ->
                    random.nextBoolean()
                            ? new Change.OpenSession(random.nextLong(1, 20), time, name())
                            : new Change.CloseSession(random.nextLong(1, 20));
        };
    }

    private Change commit(Namespace namespace) {
        var file = inode(namespace);
        List<FileExtent> added = new ArrayList<>();
        var size = random.nextLong(400_000);
        var block = random.nextLong(1 + size / 4096);
        var blocks = 1 + random.nextLong(4);
        for (var range : new FreeSpace(namespace.free()).take(blocks, random.nextLong(5000))) {
            added.add(new FileExtent(block, range.block(), range.blocks()));
            block += range.blocks();
        }
        try {
            var attributes = namespace.inode(file).attributes();
            size = Math.max(Math.max(size, attributes.size()), block * 4096 - random.nextInt(4096));
        } catch (VolumeException e) {
            // the change is rejected
        }
        return new Change.Commit(file, size, time, added);
    }

    private long inode(Namespace namespace) {
        return random.nextInt(3) == 0 ? Namespace.ROOT : 1 + random.nextLong(namespace.nextId());
    }

    private String name() {
        return "name " + random.nextInt(NAMES);
    }
}
