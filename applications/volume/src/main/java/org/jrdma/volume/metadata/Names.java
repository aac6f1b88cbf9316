package org.jrdma.volume.metadata;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** The rules for the names of files. */
public final class Names {

    /** The largest number of bytes of a name in UTF-8. */
    public static final int MAX_BYTES = 255;

    private Names() {}

    /**
     * Checks the name of a file.
     *
     * @throws VolumeException if the name is invalid
     */
    public static void check(String name) throws VolumeException {
        if (name.isEmpty()
                || name.equals(".")
                || name.equals("..")
                || name.indexOf('/') >= 0
                || name.indexOf(0) >= 0
                || !UTF_8.newEncoder().canEncode(name)
                || name.getBytes(UTF_8).length > MAX_BYTES) {
            throw new VolumeException(
                    Failure.INVALID,
                    "Invalid name \"%s\". A name has 1 to %d bytes, and is not \".\" or \"..\"."
                            .formatted(name, MAX_BYTES));
        }
    }
}
