package org.jrdma.volume.drive;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.GroupLabel.LabeledDrive;

/**
 * Several drives that store stripes of consecutive blocks in turn.
 *
 * <p>Owns the drives, of which the first block has a label. A call accesses one drive after
 * another, and takes as long as the sum of their calls.
 */
public final class StripedDrive extends DriveGroup {

    private final int stripeBlocks;

    private StripedDrive(List<LabeledDrive> members) {
        super(members);
        this.stripeBlocks = members.getFirst().label().stripeBlocks();
    }

    /**
     * Combines drives, whose content is lost. The smallest drive determines the size. If this
     * method fails, the drives remain open.
     *
     * @param stripeBlocks the number of consecutive blocks on one drive
     * @throws IllegalArgumentException if there are fewer than two drives, or the size of a stripe
     *     is not positive
     * @throws FabricException if a drive fails or is too small
     */
    public static StripedDrive create(List<Drive> drives, int stripeBlocks) throws FabricException {
        checkCount(drives);
        if (stripeBlocks < 1) {
            throw new IllegalArgumentException(
                    "The size of a stripe is %d blocks. It must be positive."
                            .formatted(stripeBlocks));
        }
        GroupLabel.writeAll(drives, stripeBlocks);
        return open(drives);
    }

    /**
     * Opens drives that were combined before. If this method fails, the drives remain open.
     *
     * @param drives all drives, in any order
     * @throws FabricException if a drive fails, or the drives are not those that were combined
     */
    public static StripedDrive open(List<Drive> drives) throws FabricException {
        return new StripedDrive(readComplete(drives, GroupLabel.Kind.STRIPES));
    }

    @Override
    public long blocks() {
        return smallest() / stripeBlocks * stripeBlocks * drives.size();
    }

    @Override
    public void read(long block, MemorySegment target) throws FabricException {
        Drive.checkRange(this, block, target);
        forEachStripe(block, target, Drive::read);
    }

    @Override
    public void write(long block, MemorySegment source) throws FabricException {
        Drive.checkRange(this, block, source);
        forEachStripe(block, source, Drive::write);
    }

    private void forEachStripe(long block, MemorySegment memory, Transfer transfer)
            throws FabricException {
        var count = memory.byteSize() / BLOCK_BYTES;
        for (var done = 0L; done < count; ) {
            var stripe = (block + done) / stripeBlocks;
            var inStripe = (block + done) % stripeBlocks;
            var blocks = Math.min(stripeBlocks - inStripe, count - done);
            transfer.run(
                    drives.get((int) (stripe % drives.size())),
                    GroupLabel.BLOCKS + stripe / drives.size() * stripeBlocks + inStripe,
                    memory.asSlice(done * BLOCK_BYTES, blocks * BLOCK_BYTES));
            done += blocks;
        }
    }

    @FunctionalInterface
    private interface Transfer {
        void run(Drive drive, long block, MemorySegment memory) throws FabricException;
    }

    @Override
    public String toString() {
        return "stripes of " + drives;
    }
}
