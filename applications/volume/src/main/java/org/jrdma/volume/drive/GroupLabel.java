package org.jrdma.volume.drive;

import java.lang.foreign.Arena;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/**
 * The first block of each drive of a {@link DriveGroup}. It prevents a node from combining drives
 * in another way than the other nodes, which would damage the data.
 *
 * @param group the random id of the group
 * @param index the position of the drive in the group
 * @param count the number of drives of the group
 * @param stripeBlocks the size of a stripe; 0 for a mirror
 */
record GroupLabel(UUID group, int index, int count, int stripeBlocks) {

    /** The number of blocks that precede the data of the group. */
    static final int BLOCKS = 1;

    private static final long MAGIC = 0x3170_756F_7267_766AL; // "jvgroup1"
    private static final int CHECKSUM_OFFSET = 64;

    /** How the drives of a group share the data. */
    enum Kind {
        STRIPES("stripes"),
        MIRROR("a mirror");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * Makes drives the members of a new group. No other node may use them.
     *
     * @throws VolumeException if a drive has no room for data
     */
    static void writeAll(List<Drive> drives, int stripeBlocks) throws FabricException {
        for (var drive : drives) {
            if (drive.blocks() <= BLOCKS) {
                throw Drive.tooSmall(drive.toString(), drive.blocks() * Drive.BLOCK_BYTES);
            }
        }
        for (var drive : drives) { // it may refuse the writes of all nodes but a former coordinator
            drive.fence().lead(Fence.randomKey(), 0);
        }
        var group = UUID.randomUUID();
        for (var i = 0; i < drives.size(); i++) {
            new GroupLabel(group, i, drives.size(), stripeBlocks).write(drives.get(i));
        }
    }

    /**
     * Reads the labels of drives, which may be in any order.
     *
     * @return the drives in the order of the group, each with its label
     * @throws VolumeException if they do not belong to the same group of this kind
     */
    static List<LabeledDrive> readAll(List<Drive> drives, Kind kind) throws FabricException {
        var labeled = new ArrayList<LabeledDrive>();
        for (var drive : drives) {
            labeled.add(new LabeledDrive(drive, read(drive)));
        }
        var first = labeled.getFirst();
        for (var other : labeled) {
            if (other.label().kind() != kind) {
                throw malformed(
                        "%s is a part of %s, not of %s"
                                .formatted(other, other.label().kind(), kind));
            }
            if (!other.label().group.equals(first.label().group)) {
                throw malformed(
                        "%s and %s do not belong to the same group".formatted(first, other));
            }
        }
        labeled.sort(Comparator.comparingInt(each -> each.label().index));
        for (var i = 1; i < labeled.size(); i++) {
            if (labeled.get(i).label().index == labeled.get(i - 1).label().index) {
                throw malformed(
                        "%s and %s are the same drive"
                                .formatted(labeled.get(i - 1), labeled.get(i)));
            }
        }
        return List.copyOf(labeled);
    }

    /** A drive of a group. */
    record LabeledDrive(Drive drive, GroupLabel label) {

        @Override
        public String toString() {
            return drive.toString();
        }
    }

    Kind kind() {
        return stripeBlocks == 0 ? Kind.MIRROR : Kind.STRIPES;
    }

    private void write(Drive drive) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var block = arena.allocate(Drive.BLOCK_BYTES);
            var buffer = block.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            buffer.putLong(MAGIC).putInt(index).putInt(count).putInt(stripeBlocks);
            buffer.putLong(group.getMostSignificantBits()).putLong(group.getLeastSignificantBits());
            buffer.putInt(CHECKSUM_OFFSET, BlockChecksum.of(block, CHECKSUM_OFFSET));
            drive.write(0, block);
            drive.flush();
        }
    }

    private static GroupLabel read(Drive drive) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var block = arena.allocate(Drive.BLOCK_BYTES);
            drive.read(0, block);
            var buffer = block.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            if (buffer.getLong() != MAGIC
                    || buffer.getInt(CHECKSUM_OFFSET) != BlockChecksum.of(block, CHECKSUM_OFFSET)) {
                throw malformed("%s is neither a part of stripes nor of a mirror".formatted(drive));
            }
            var index = buffer.getInt();
            var count = buffer.getInt();
            var stripeBlocks = buffer.getInt();
            var group = new UUID(buffer.getLong(), buffer.getLong());
            return new GroupLabel(group, index, count, stripeBlocks);
        }
    }

    private static VolumeException malformed(String message) {
        return new VolumeException(Failure.MALFORMED, message);
    }
}
