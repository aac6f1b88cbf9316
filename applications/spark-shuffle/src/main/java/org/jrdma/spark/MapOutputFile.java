package org.jrdma.spark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import scala.Option;

/** The data file of a map task, and where its partitions are. */
final class MapOutputFile {

    /** Identifies the output of a map task. */
    record Key(int shuffle, long map) {}

    private final Path data;
    private final long length;

    /** The offset of each partition in the data file, and the end of the last partition. */
    private final long[] offsets;

    MapOutputFile(Path data, long length, long... offsets) {
        this.data = data;
        this.length = length;
        this.offsets = offsets;
    }

    /**
     * Reads the index of a map output that the task has committed.
     *
     * @throws IOException if the map output does not exist, or its index is invalid
     */
    static MapOutputFile find(IndexShuffleBlockResolver resolver, Key key) throws IOException {
        var index = resolver.getIndexFile(key.shuffle(), key.map(), Option.empty()).toPath();
        var data = resolver.getDataFile(key.shuffle(), key.map()).toPath();
        var values = ByteBuffer.wrap(Files.readAllBytes(index)).asLongBuffer();
        var offsets = new long[values.remaining()];
        values.get(offsets);
        var file = new MapOutputFile(data, Files.size(data), offsets);
        if (!file.isValid()) {
            throw new IOException("The index %s does not match %s".formatted(index, data));
        }
        return file;
    }

    private boolean isValid() {
        if (offsets.length < 2 || offsets[0] < 0 || offsets[offsets.length - 1] > length) {
            return false;
        }
        for (var i = 1; i < offsets.length; i++) {
            if (offsets[i] < offsets[i - 1]) {
                return false;
            }
        }
        return true;
    }

    Path data() {
        return data;
    }

    long length() {
        return length;
    }

    /** Returns true if the file has all partitions of a range. */
    boolean contains(BlockRange range) {
        return 0 <= range.from() && range.from() < range.to() && range.to() < offsets.length;
    }

    /** The offset of a partition, or the end of the last partition. */
    long offset(int partition) {
        return offsets[partition];
    }
}
