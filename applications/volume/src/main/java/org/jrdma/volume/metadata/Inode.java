package org.jrdma.volume.metadata;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.NavigableMap;
import java.util.TreeMap;
import org.jrdma.volume.model.VolumeException;

/** A file or folder. Only its {@link Namespace} changes it. */
public final class Inode {

    /** The bytes of an inode in a snapshot, without its name and extents. */
    private static final int FIXED_BYTES =
            Long.BYTES + Integer.BYTES + Attributes.BYTES + Integer.BYTES;

    private static final int MAX_EXTENTS_IN_SNAPSHOT = 10_000_000;

    Attributes attributes;

    /** The folder that contains this inode; 0 for a removed file, and for the root. */
    long parent;

    String name;
    final ExtentMap extents = new ExtentMap();
    final TreeMap<String, Long> children = new TreeMap<>();

    Inode(Attributes attributes, long parent, String name) {
        this.attributes = attributes;
        this.parent = parent;
        this.name = name;
    }

    /** Returns the attributes. */
    public Attributes attributes() {
        return attributes;
    }

    /** Returns the id of the folder that contains this inode; 0 if its name was removed. */
    public long parent() {
        return parent;
    }

    /** Returns the name, also after it was removed. */
    public String name() {
        return name;
    }

    /** Returns the extents, which the caller must not change. */
    public ExtentMap extents() {
        return extents;
    }

    /** Returns the names in this folder and the ids of their inodes. */
    public NavigableMap<String, Long> children() {
        return java.util.Collections.unmodifiableNavigableMap(children);
    }

    /** Returns the number of bytes in a snapshot. */
    long encodedBytes() {
        return FIXED_BYTES + name.getBytes(UTF_8).length + (long) extents.size() * FileExtent.BYTES;
    }

    void encode(Encoder encoder) {
        attributes.encode(encoder);
        encoder.writeLong(parent);
        encoder.writeText(name);
        encoder.writeList(extents.extents(), (target, extent) -> extent.encode(target));
    }

    static Inode decode(Decoder decoder) throws VolumeException {
        var inode =
                new Inode(
                        Attributes.decode(decoder),
                        decoder.readCount("a parent"),
                        decoder.readText(Names.MAX_BYTES));
        for (var extent : decoder.readList(MAX_EXTENTS_IN_SNAPSHOT, FileExtent::decode)) {
            inode.extents.add(extent);
        }
        return inode;
    }
}
