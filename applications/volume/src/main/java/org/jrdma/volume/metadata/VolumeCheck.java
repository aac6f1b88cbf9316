package org.jrdma.volume.metadata;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.CoordinatorLease;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.metadata.FreeSpace.Range;
import org.jrdma.volume.model.VolumeException;

/**
 * The result of checking a volume that no coordinator uses.
 *
 * @param problems descriptions of all problems; empty if the volume is consistent
 * @param files the number of files and folders
 * @param usedBlocks the number of blocks of all files
 * @param freeBlocks the number of free blocks
 */
public record VolumeCheck(List<String> problems, long files, long usedBlocks, long freeBlocks) {

    /**
     * Reads the superblock, the lease record and the journal of a volume, and checks that the
     * folders are a tree, that extents do not overlap, and that all blocks are accounted for.
     *
     * @throws FabricException if the drive fails
     */
    public static VolumeCheck run(Drive drive) throws FabricException {
        try {
            var superblock = Superblock.read(drive);
            var namespace = Recovery.read(drive, superblock).namespace();
            var check = check(namespace);
            var record = new CoordinatorLease(drive, superblock.leaseBlock());
            if (record.read().isEmpty()) {
                check.problems.add("The lease record is damaged");
            }
            return check;
        } catch (VolumeException e) {
            return new VolumeCheck(List.of(e.getMessage()), 0, 0, 0);
        }
    }

    /** Checks a namespace. */
    static VolumeCheck check(Namespace namespace) {
        var problems = new ArrayList<String>();
        var unused = new FreeSpace(namespace.data());
        var reached = new HashSet<Long>();
        var used = 0L;
        for (var inode : namespace.inodes()) {
            used += checkFile(inode, unused, problems);
            checkParent(namespace, inode, problems);
            if (inode.attributes().id() >= namespace.nextId()) {
                problems.add(describe(inode) + " has a number that is still unused");
            }
        }
        walk(namespace, Namespace.ROOT, reached, problems);
        for (var inode : namespace.inodes()) {
            if (!reached.contains(inode.attributes().id()) && inode.parent() != 0) {
                problems.add(describe(inode) + " is in no folder that the root contains");
            }
        }
        if (!unused.ranges().equals(namespace.free().ranges())) {
            problems.add(
                    "%d blocks are free, but %d blocks are not used by files"
                            .formatted(namespace.free().free(), unused.free()));
        }
        return new VolumeCheck(problems, namespace.inodes().size(), used, namespace.free().free());
    }

    private static long checkFile(Inode inode, FreeSpace unused, List<String> problems) {
        var attributes = inode.attributes();
        if (attributes.isFolder() && inode.extents().size() > 0) {
            problems.add(describe(inode) + " is a folder with extents");
        }
        if (inode.extents().end() > Namespace.blocks(attributes.size())) {
            problems.add(describe(inode) + " has extents after its end");
        }
        for (var extent : inode.extents().extents()) {
            try {
                unused.take(new Range(extent.driveBlock(), extent.blocks()));
            } catch (VolumeException e) {
                problems.add(
                        "%s of %s overlaps another file or is outside the data"
                                .formatted(extent, describe(inode)));
            }
        }
        return inode.extents().blocks();
    }

    private static void checkParent(Namespace namespace, Inode inode, List<String> problems) {
        for (var child : inode.children().entrySet()) {
            try {
                Names.check(child.getKey());
                var found = namespace.inode(child.getValue());
                if (found.parent() != inode.attributes().id()
                        || !found.name().equals(child.getKey())) {
                    problems.add(
                            "%s contains %s, which belongs to folder %d"
                                    .formatted(describe(inode), describe(found), found.parent()));
                }
            } catch (VolumeException e) {
                problems.add("%s: %s".formatted(describe(inode), e.getMessage()));
            }
        }
    }

    private static void walk(
            Namespace namespace, long root, HashSet<Long> reached, List<String> problems) {
        var pending = new ArrayDeque<>(List.of(root));
        while (!pending.isEmpty()) {
            var id = pending.pop();
            if (!reached.add(id)) {
                problems.add("File %d is contained in several folders".formatted(id));
                continue;
            }
            try {
                pending.addAll(namespace.inode(id).children().values());
            } catch (VolumeException e) {
                problems.add(e.getMessage());
            }
        }
    }

    private static String describe(Inode inode) {
        return "File %d \"%s\"".formatted(inode.attributes().id(), inode.name());
    }
}
