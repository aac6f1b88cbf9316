package org.jrdma.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import scala.Option;

/** The offsets of the partitions in the data file of a map task. */
final class MapOutputIndex {

    /** Identifies the output of a map task. */
    record Key(int shuffle, long map) {}

    private final Path dataFile;
    private final long dataLength;

    /** The offset of each partition in the data file, and the end of the last partition. */
    private final long[] offsets;

    MapOutputIndex(Path dataFile, long dataLength, long... offsets) {
        this.dataFile = dataFile;
        this.dataLength = dataLength;
        this.offsets = offsets;
    }

    /**
     * Reads the index of a map output that the task has committed.
     *
     * @throws IOException if the map output does not exist, or its index is invalid
     */
    static MapOutputIndex find(IndexShuffleBlockResolver resolver, Key key) throws IOException {
        var indexFile = resolver.getIndexFile(key.shuffle(), key.map(), Option.empty()).toPath();
        var dataFile = resolver.getDataFile(key.shuffle(), key.map()).toPath();
        var values = ByteBuffer.wrap(Files.readAllBytes(indexFile)).asLongBuffer();
        var offsets = new long[values.remaining()];
        values.get(offsets);
        var index = new MapOutputIndex(dataFile, Files.size(dataFile), offsets);
        if (!index.isValid()) {
            throw new IOException("The index %s does not match %s".formatted(indexFile, dataFile));
        }
        return index;
    }

    private boolean isValid() {
        if (offsets.length < 2 || offsets[0] < 0 || offsets[offsets.length - 1] > dataLength) {
            return false;
        }
        for (var i = 1; i < offsets.length; i++) {
            if (offsets[i] < offsets[i - 1]) {
                return false;
            }
        }
        return true;
    }

    Path dataFile() {
        return dataFile;
    }

    long dataLength() {
        return dataLength;
    }

    /** Returns true if the data file has all partitions of a range. */
    boolean contains(PartitionRange range) {
        return 0 <= range.from() && range.from() < range.to() && range.to() < offsets.length;
    }

    /** The offset of a partition, or the end of the last partition. */
    long offset(int partition) {
        return offsets[partition];
    }
}
