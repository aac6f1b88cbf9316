package org.jrdma.volume.drive;

import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.GroupLabel.LabeledDrive;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** A drive that consists of several drives, which it owns. */
abstract sealed class DriveGroup implements Drive permits StripedDrive, MirroredDrive {

    /** The drives in the order of the group. */
    final List<Drive> drives;

    DriveGroup(List<LabeledDrive> members) {
        this.drives = members.stream().map(LabeledDrive::drive).toList();
    }

    /**
     * @throws IllegalArgumentException if there are fewer than two drives
     */
    static void checkCount(List<Drive> drives) {
        if (drives.size() < 2) {
            throw new IllegalArgumentException(
                    "A group needs at least two drives, but has " + drives.size());
        }
    }

    /**
     * Reads the labels of all drives of a group.
     *
     * @throws VolumeException if the drives are not those of one group of this kind
     */
    static List<LabeledDrive> readComplete(List<Drive> drives, GroupLabel.Kind kind)
            throws FabricException {
        var members = GroupLabel.readAll(drives, kind);
        var count = members.getFirst().label().count();
        if (members.size() != count) {
            throw new VolumeException(
                    Failure.MALFORMED,
                    "%s are only %d of the %d drives of %s"
                            .formatted(drives, members.size(), count, kind));
        }
        return members;
    }

    /** Returns the number of blocks for data of the smallest drive. */
    final long smallest() {
        return drives.stream().mapToLong(Drive::blocks).min().orElseThrow() - GroupLabel.BLOCKS;
    }

    @Override
    public final void flush() throws FabricException {
        for (var drive : drives) {
            drive.flush();
        }
    }

    @Override
    public final Fence fence() {
        return Fence.ofAll(drives);
    }

    @Override
    public final void close() {
        drives.forEach(Drive::close);
    }
}
