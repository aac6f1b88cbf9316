package org.jrdma.volume.drive;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.GroupLabel.LabeledDrive;
import org.jrdma.volume.model.BufferInUseException;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;

/**
 * Several drives with the same content.
 *
 * <p>A write succeeds if it succeeds on all drives: other nodes may read from any of them. A read
 * uses the first drive, and the others if it fails. To write after the permanent loss of a drive,
 * {@linkplain #reduce() reduce} the mirror to the remaining drives. A write that failed can be
 * present on some drives only, until the block is written again.
 *
 * <p>Owns the drives, of which the first block has a label. A call takes as long as the sum of the
 * calls of the drives.
 */
public final class MirroredDrive extends DriveGroup {

    private volatile boolean isComplete;

    private MirroredDrive(List<LabeledDrive> members) {
        super(members);
        this.isComplete = members.size() == members.getFirst().label().count();
    }

    /**
     * Combines drives, whose content is lost. The smallest drive determines the size. If this
     * method fails, the drives remain open.
     *
     * @throws IllegalArgumentException if there are fewer than two drives
     * @throws FabricException if a drive fails or is too small
     */
    public static MirroredDrive create(List<Drive> drives) throws FabricException {
        checkCount(drives);
        GroupLabel.writeAll(drives, 0);
        return open(drives);
    }

    /**
     * Opens all drives of a mirror. If this method fails, the drives remain open.
     *
     * @param drives the drives, in any order
     * @throws FabricException if a drive fails, or the drives are not those of a mirror
     */
    public static MirroredDrive open(List<Drive> drives) throws FabricException {
        return new MirroredDrive(readComplete(drives, GroupLabel.Kind.MIRROR));
    }

    /**
     * Opens some drives of a mirror, to read from them or to {@link #reduce()} it. Writes fail
     * until then, because they would not reach the other drives. If this method fails, the drives
     * remain open.
     *
     * @param drives the drives, in any order
     * @throws FabricException if a drive fails, or the drives are not those of a mirror
     */
    public static MirroredDrive openIncomplete(List<Drive> drives) throws FabricException {
        return new MirroredDrive(GroupLabel.readAll(drives, GroupLabel.Kind.MIRROR));
    }

    /**
     * Makes these drives the whole mirror. Its other drives, which lack later writes, cannot be
     * opened together with these any more. No node may use the mirror during this call.
     *
     * @throws FabricException if a drive fails; call this method again when it works
     */
    public void reduce() throws FabricException {
        GroupLabel.writeAll(drives, 0);
        isComplete = true;
    }

    @Override
    public long blocks() {
        return smallest();
    }

    @Override
    public void read(long block, MemorySegment target) throws FabricException {
        Drive.checkRange(this, block, target);
        @Nullable FabricException failure = null;
        for (var drive : drives) {
            try {
                drive.read(GroupLabel.BLOCKS + block, target);
                return;
            } catch (BufferInUseException e) {
                throw e;
            } catch (FabricException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        throw java.util.Objects.requireNonNull(failure);
    }

    @Override
    public void write(long block, MemorySegment source) throws FabricException {
        Drive.checkRange(this, block, source);
        if (!isComplete) {
            throw new VolumeException(
                    Failure.INVALID, "%s lacks drives, and was not reduced".formatted(this));
        }
        for (var drive : drives) {
            drive.write(GroupLabel.BLOCKS + block, source);
        }
    }

    @Override
    public String toString() {
        return "mirror of " + drives;
    }
}
