package org.jrdma.volume.drive;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.FabricException;

/**
 * Several drives that store stripes of consecutive blocks in turn.
 *
 * <p>Owns the drives. A call accesses one drive after another, and takes as long as the sum of
 * their calls.
 */
public final class StripedDrive extends DriveGroup {

    private final int stripeBlocks;

    /**
     * Combines drives, in the same order and with the same stripes on all nodes. The smallest drive
     * determines the size.
     *
     * @param stripeBlocks the number of consecutive blocks on one drive
     * @throws IllegalArgumentException if there is no drive, or the size of a stripe is not
     *     positive
     */
    public StripedDrive(List<Drive> drives, int stripeBlocks) {
        super(drives);
        if (stripeBlocks < 1) {
            throw new IllegalArgumentException(
                    "The size of a stripe is %d blocks. It must be positive."
                            .formatted(stripeBlocks));
        }
        this.stripeBlocks = stripeBlocks;
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
                    stripe / drives.size() * stripeBlocks + inStripe,
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
