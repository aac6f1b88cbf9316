package org.jrdma.spark;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The part of a map task's output that a reduce task reads: consecutive partitions.
 *
 * @param shuffle the number of the shuffle
 * @param map the number of the map task's attempt, which is unique in an application
 * @param from the first partition
 * @param to the partition after the last one
 */
record PartitionRange(int shuffle, long map, int from, int to) {

    /** The length of an encoded range. */
    static final int BYTES = 20;

    private static final String PREFIX = "shuffle";

    /**
     * Parses the name of a block: {@code shuffle_S_M_R} for one partition, {@code shuffle_S_M_R_E}
     * for the partitions from R to E - 1. Empty for all other names, for example those of merged
     * blocks.
     */
    static Optional<PartitionRange> parse(String name) {
        var parts = name.split("_", -1);
        if (parts.length < 4 || parts.length > 5 || !parts[0].equals(PREFIX)) {
            return Optional.empty();
        }
        try {
            var from = Integer.parseInt(parts[3]);
            var to = parts.length == 5 ? Integer.parseInt(parts[4]) : from + 1;
            return Optional.of(
                    new PartitionRange(
                            Integer.parseInt(parts[1]), Long.parseLong(parts[2]), from, to));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    static PartitionRange decode(ByteBuffer bytes) {
        return new PartitionRange(bytes.getInt(), bytes.getLong(), bytes.getInt(), bytes.getInt());
    }

    void encode(ByteBuffer bytes) {
        bytes.putInt(shuffle).putLong(map).putInt(from).putInt(to);
    }
}
