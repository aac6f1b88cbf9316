package org.jrdma.volume.nio;

import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jrdma.volume.metadata.Attributes;

/**
 * The attributes of a file in a volume.
 *
 * @param volume the identity of the volume
 */
record VolumeAttributes(UUID volume, Attributes attributes) implements BasicFileAttributes {

    /** Identifies a file among all volumes. */
    private record FileKey(UUID volume, long file) {}

    @Override
    public FileTime lastModifiedTime() {
        return FileTime.from(attributes.modified(), TimeUnit.NANOSECONDS);
    }

    @Override
    public FileTime lastAccessTime() {
        return lastModifiedTime(); // a volume does not record reads
    }

    @Override
    public FileTime creationTime() {
        return FileTime.from(attributes.created(), TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean isRegularFile() {
        return !attributes.isFolder();
    }

    @Override
    public boolean isDirectory() {
        return attributes.isFolder();
    }

    @Override
    public boolean isSymbolicLink() {
        return false;
    }

    @Override
    public boolean isOther() {
        return false;
    }

    @Override
    public long size() {
        return attributes.size();
    }

    @Override
    public Object fileKey() {
        return new FileKey(volume, attributes.id());
    }
}
