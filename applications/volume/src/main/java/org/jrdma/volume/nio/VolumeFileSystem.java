package org.jrdma.volume.nio;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.model.ClientReport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An open volume. Closing it closes its channels and directory streams, and then the client. */
public final class VolumeFileSystem extends FileSystem {

    private static final Logger LOG = LoggerFactory.getLogger(VolumeFileSystem.class);
    private static final FileSystemProvider PROVIDER = new VolumeFileSystemProvider();

    private final String authority;
    private final VolumeClient client;
    private final Runnable onClose;
    private final ReentrantLock closing = new ReentrantLock();
    private volatile boolean isClosing;
    private volatile boolean isClosed;

    /** The channels and directory streams that {@link #close()} closes. */
    private final Set<Closeable> opened = ConcurrentHashMap.newKeySet();

    /**
     * Creates a file system.
     *
     * @param authority the name of the volume in URIs, which no other open volume of this process
     *     has
     * @param client the client, which is closed with the file system
     * @param onClose runs after the client was closed
     * @throws java.nio.file.FileSystemAlreadyExistsException if the name is used
     */
    @SuppressWarnings("this-escape") // the provider only stores this object
    public VolumeFileSystem(String authority, VolumeClient client, Runnable onClose) {
        this.authority = authority;
        this.client = client;
        this.onClose = onClose;
        VolumeFileSystemProvider.add(authority, this);
    }

    VolumeClient client() {
        if (isClosed) {
            throw new ClosedFileSystemException();
        }
        return client;
    }

    /**
     * Adds a channel or directory stream, which is closed with this file system.
     *
     * @throws ClosedFileSystemException if this file system is closed, also meanwhile
     */
    <T extends Closeable> T add(T closeable) {
        opened.add(closeable);
        if (isClosing) { // close() may not have seen it
            close(closeable);
            throw new ClosedFileSystemException();
        }
        return closeable;
    }

    /** Removes a channel or directory stream that was closed. */
    void remove(Closeable closeable) {
        opened.remove(closeable);
    }

    private void close(Closeable closeable) {
        try {
            closeable.close();
        } catch (IOException | RuntimeException e) {
            LOG.warn("An open file of {} was not closed completely", this, e);
        }
    }

    String authority() {
        return authority;
    }

    /** Returns the connections of the client. */
    public ClientReport state() {
        return client().state();
    }

    /** Returns the path to the data and the transport to the coordinator, for messages. */
    public String describe() {
        return client().describe();
    }

    @Override
    public FileSystemProvider provider() {
        return PROVIDER;
    }

    /**
     * Closes all channels, which makes their data durable, all directory streams, and the client.
     * Waits for accesses in progress, and for a missing coordinator up to the retry timeout of the
     * client, once for all channels. Failures are logged.
     */
    @Override
    public void close() {
        closing.lock(); // another thread that closes this object may then close the drive
        try {
            if (!isClosing) {
                isClosing = true;
                VolumeFileSystemProvider.remove(authority);
                client.startClosing();
                opened.forEach(this::close);
                isClosed = true;
                client.close();
                onClose.run();
            }
        } finally {
            closing.unlock();
        }
    }

    @Override
    public boolean isOpen() {
        return !isClosing;
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return "/";
    }

    VolumePath root() {
        return new VolumePath(this, true, List.of());
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        return List.of(root());
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        return List.of(new VolumeFileStore(this));
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return Set.of("basic");
    }

    @Override
    public Path getPath(String first, String... more) {
        var text = new StringBuilder(first);
        for (var part : more) {
            text.append(text.isEmpty() || part.isEmpty() ? "" : "/").append(part);
        }
        return VolumePath.parse(this, text.toString());
    }

    @Override
    public PathMatcher getPathMatcher(String syntaxAndPattern) {
        // the matchers of the default file system see the same names and separators
        var matcher = java.nio.file.FileSystems.getDefault().getPathMatcher(syntaxAndPattern);
        return path -> matcher.matches(Path.of(path.toString()));
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        throw new UnsupportedOperationException("A volume has no users");
    }

    @Override
    public WatchService newWatchService() throws IOException {
        throw new UnsupportedOperationException("A volume cannot be watched");
    }

    @Override
    public String toString() {
        return "%s://%s".formatted(VolumeFileSystemProvider.SCHEME, authority);
    }
}
