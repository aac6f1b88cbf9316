package org.jrdma.volume.nio;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import org.jrdma.volume.drive.Drive;
import org.jspecify.annotations.Nullable;

/** The capacity of a volume. */
final class VolumeFileStore extends FileStore {

    private final VolumeFileSystem fileSystem;

    VolumeFileStore(VolumeFileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    @Override
    public String name() {
        return fileSystem.authority();
    }

    @Override
    public String toString() {
        return "volume " + name();
    }

    @Override
    public String type() {
        return VolumeFileSystemProvider.SCHEME;
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public long getTotalSpace() throws IOException {
        return fileSystem.client().capacity().blocks() * Drive.BLOCK_BYTES;
    }

    @Override
    public long getUsableSpace() throws IOException {
        return fileSystem.client().capacity().free() * Drive.BLOCK_BYTES;
    }

    @Override
    public long getUnallocatedSpace() throws IOException {
        return getUsableSpace();
    }

    @Override
    public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
        return type == BasicFileAttributeView.class;
    }

    @Override
    public boolean supportsFileAttributeView(String name) {
        return name.equals("basic");
    }

    @Override
    public <V extends FileStoreAttributeView> @Nullable V getFileStoreAttributeView(Class<V> type) {
        return null;
    }

    @Override
    public Object getAttribute(String attribute) throws IOException {
        throw new UnsupportedOperationException("Unknown attribute " + attribute);
    }
}
