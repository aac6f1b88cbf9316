package org.jrdma.volume.protocol;

import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.metadata.Names;
import org.jrdma.volume.model.VolumeException;

/** A name in a folder. */
public record FolderEntry(String name, boolean isFolder) {

    /** The largest number of entries in one message. */
    public static final int MAX_ENTRIES = 150;

    /** Writes this entry. */
    public void encode(Encoder encoder) {
        encoder.writeText(name);
        encoder.writeBoolean(isFolder);
    }

    /** Reads an entry. */
    public static FolderEntry decode(Decoder decoder) throws VolumeException {
        return new FolderEntry(decoder.readText(Names.MAX_BYTES), decoder.readBoolean());
    }
}
