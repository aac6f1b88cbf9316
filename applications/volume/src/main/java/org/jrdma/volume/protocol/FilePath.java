package org.jrdma.volume.protocol;

import java.util.List;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.metadata.Names;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/**
 * The position of a file: the names of the folders from the root, and its own name.
 *
 * @param names the names; none for the root
 */
public record FilePath(List<String> names) {

    /** The largest number of names. */
    public static final int MAX_NAMES = 256;

    /** The largest number of bytes of all names. */
    public static final int MAX_BYTES = 16 * 1024;

    /** Copies the names. */
    public FilePath {
        names = List.copyOf(names);
    }

    /** Returns the path whose names a text separates by slashes. */
    public static FilePath of(String text) {
        return new FilePath(
                List.of(text.split("/")).stream().filter(name -> !name.isEmpty()).toList());
    }

    /**
     * Returns the path of the folder.
     *
     * @throws VolumeException if this path is the root
     */
    public FilePath folder() throws VolumeException {
        checkNotRoot();
        return new FilePath(names.subList(0, names.size() - 1));
    }

    /**
     * Returns the last name.
     *
     * @throws VolumeException if this path is the root
     */
    public String name() throws VolumeException {
        checkNotRoot();
        return names.getLast();
    }

    private void checkNotRoot() throws VolumeException {
        if (names.isEmpty()) {
            throw new VolumeException(
                    Failure.INVALID, "The root can be neither created nor moved nor removed");
        }
    }

    /**
     * Writes this path.
     *
     * @throws VolumeException if it is too long
     */
    public void encode(Encoder encoder) throws VolumeException {
        var before = encoder.size();
        encoder.writeList(names, Encoder::writeText);
        if (names.size() > MAX_NAMES || encoder.size() - before > MAX_BYTES) {
            throw new VolumeException(Failure.INVALID, "The path %s is too long".formatted(this));
        }
        for (var name : names) {
            Names.check(name);
        }
    }

    /** Reads a path. */
    public static FilePath decode(Decoder decoder) throws VolumeException {
        return new FilePath(
                decoder.readList(MAX_NAMES, source -> source.readText(Names.MAX_BYTES)));
    }

    @Override
    public String toString() {
        return "/" + String.join("/", names);
    }
}
