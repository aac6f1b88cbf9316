package org.jrdma.volume.nio;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemAlreadyExistsException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.spi.FileSystemProvider;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jrdma.volume.client.ClientOptions;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.net.NodeAddresses;
import org.jrdma.volume.net.NodeOptions;
import org.jspecify.annotations.Nullable;

/**
 * The provider of volumes, for URIs such as {@code jrdma-volume://host1,host2:7472/folder}. The
 * authority has the servers, in the form of {@link NodeAddresses#servers}: over sockets, and at
 * port 7471 by default.
 *
 * <p>{@link #newFileSystem(URI, Map)} accepts a URI without a path, and one property, which is
 * optional. {@code drive} is a {@link Drive} or the text of a {@link DriveName}. Without it, all
 * data is redirected to a server. A program that needs other settings opens a {@link
 * org.jrdma.volume.Volume}.
 */
public final class VolumeFileSystemProvider extends FileSystemProvider {

    static final String SCHEME = "jrdma-volume";

    private static final String DRIVE = "drive";
    private static final int FILE_MODE = 0644;
    private static final int FOLDER_MODE = 0755;
    private static final Map<String, VolumeFileSystem> OPEN = new ConcurrentHashMap<>();

    /** Creates the provider. */
    public VolumeFileSystemProvider() {}

    static void add(String authority, VolumeFileSystem fileSystem) {
        if (OPEN.putIfAbsent(authority, fileSystem) != null) {
            throw new FileSystemAlreadyExistsException(authority);
        }
    }

    static void remove(String authority) {
        OPEN.remove(authority);
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }

    private static String authority(URI uri) {
        if (!SCHEME.equalsIgnoreCase(uri.getScheme()) || uri.getRawAuthority() == null) {
            throw new IllegalArgumentException(
                    "%s is not a URI of the form %s://host:port/".formatted(uri, SCHEME));
        }
        return uri.getRawAuthority();
    }

    @Override
    public FileSystem newFileSystem(URI uri, Map<String, ?> properties) throws IOException {
        var authority = authority(uri);
        check(uri, properties);
        var servers = NodeAddresses.servers(authority);
        if (OPEN.containsKey(authority)) {
            throw new FileSystemAlreadyExistsException(authority);
        }
        var given = properties.get(DRIVE);
        var isShared = given instanceof Drive;
        Optional<Drive> drive =
                given == null
                        ? Optional.empty()
                        : Optional.of(
                                given instanceof Drive shared
                                        ? shared
                                        : new DriveName(given.toString()).open());
        Runnable onClose = () -> drive.filter(_ -> !isShared).ifPresent(Drive::close);
        var options =
                new ClientOptions(
                        "jvm-" + ProcessHandle.current().pid(),
                        servers,
                        List.of(),
                        true,
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(30));
        try {
            return open(
                    authority,
                    new VolumeClient(options, new NodeConnector(NodeOptions.ALL), drive),
                    onClose);
        } catch (IOException | RuntimeException e) {
            onClose.run();
            throw e;
        }
    }

    private static void check(URI uri, Map<String, ?> properties) {
        if (!Set.of("", "/").contains(uri.getRawPath())
                || uri.getRawQuery() != null
                || uri.getRawFragment() != null) {
            throw new IllegalArgumentException(
                    "The URI of a volume has no path, query or fragment, but is %s".formatted(uri));
        }
        for (var key : properties.keySet()) {
            if (!key.equals(DRIVE)) {
                throw new IllegalArgumentException(
                        "There is no property \"%s\". The only property of a volume is \"%s\"."
                                .formatted(key, DRIVE));
            }
        }
    }

    private static FileSystem open(String authority, VolumeClient client, Runnable onClose) {
        try {
            return new VolumeFileSystem(authority, client, onClose);
        } catch (RuntimeException e) { // another thread has opened the volume meanwhile
            client.close();
            throw e;
        }
    }

    @Override
    public FileSystem getFileSystem(URI uri) {
        var fileSystem = OPEN.get(authority(uri));
        if (fileSystem == null) {
            throw new FileSystemNotFoundException("The volume %s is not open".formatted(uri));
        }
        return fileSystem;
    }

    @Override
    public Path getPath(URI uri) {
        return getFileSystem(uri).getPath(uri.getPath());
    }

    private static VolumeClient client(VolumePath path) {
        return path.fileSystem().client();
    }

    @Override
    public SeekableByteChannel newByteChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
            throws IOException {
        return newFileChannel(path, options, attributes);
    }

    @Override
    public FileChannel newFileChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
            throws IOException {
        rejectAttributes(attributes);
        var file = VolumePath.of(path);
        var isWriting =
                options.contains(StandardOpenOption.WRITE)
                        || options.contains(StandardOpenOption.APPEND);
        var creation = isWriting ? creation(options) : Creation.EXISTING;
        var handle =
                FileSystemExceptions.translate(
                        file, () -> client(file).open(file.toFilePath(), creation, FILE_MODE));
        var channel = file.fileSystem().add(new VolumeFileChannel(file, handle, options));
        var isComplete = false;
        try {
            if (isWriting && options.contains(StandardOpenOption.TRUNCATE_EXISTING)) {
                channel.truncate(0);
            }
            isComplete = true;
            return channel;
        } finally {
            if (!isComplete) {
                channel.close();
            }
        }
    }

    private static Creation creation(Set<? extends OpenOption> options) {
        if (options.contains(StandardOpenOption.CREATE_NEW)) {
            return Creation.NEW;
        }
        return options.contains(StandardOpenOption.CREATE)
                ? Creation.IF_MISSING
                : Creation.EXISTING;
    }

    private static void rejectAttributes(FileAttribute<?>[] attributes) {
        if (attributes.length > 0) {
            throw new UnsupportedOperationException(
                    "Unsupported initial attribute " + attributes[0].name());
        }
    }

    @Override
    public DirectoryStream<Path> newDirectoryStream(
            Path folder, DirectoryStream.Filter<? super Path> filter) throws IOException {
        var path = VolumePath.of(folder);
        return path.fileSystem().add(new VolumeFolder(path, filter));
    }

    @Override
    public void createDirectory(Path folder, FileAttribute<?>... attributes) throws IOException {
        rejectAttributes(attributes);
        var path = VolumePath.of(folder);
        run(path, () -> client(path).createFolder(path.toFilePath(), FOLDER_MODE));
    }

    @FunctionalInterface
    private interface Action {
        void run() throws org.jrdma.ffi.FabricException;
    }

    private static void run(VolumePath path, Action action) throws IOException {
        var _ =
                FileSystemExceptions.translate(
                        path,
                        () -> {
                            action.run();
                            return true;
                        });
    }

    @Override
    public void delete(Path path) throws IOException {
        var file = VolumePath.of(path);
        run(file, () -> client(file).remove(file.toFilePath()));
    }

    @Override
    public void copy(Path source, Path target, CopyOption... options) throws IOException {
        FileTransfer.copy(source, target, options);
    }

    @Override
    public void move(Path source, Path target, CopyOption... options) throws IOException {
        FileTransfer.move(VolumePath.of(source), VolumePath.of(target), options);
    }

    @Override
    public boolean isSameFile(Path path, Path other) throws IOException {
        if (path.equals(other)) {
            return true;
        }
        // a volume can be open as several file systems
        return other instanceof VolumePath file
                && attributes(VolumePath.of(path)).fileKey().equals(attributes(file).fileKey());
    }

    @Override
    public boolean isHidden(Path path) {
        var name = path.getFileName();
        return name != null && name.toString().startsWith(".");
    }

    @Override
    public FileStore getFileStore(Path path) {
        return new VolumeFileStore(VolumePath.of(path).fileSystem());
    }

    @Override
    public void checkAccess(Path path, AccessMode... modes) throws IOException {
        var _ = readAttributes(path, BasicFileAttributes.class);
    }

    private static VolumeAttributes attributes(VolumePath path) throws IOException {
        return new VolumeAttributes(
                client(path).volumeId(),
                FileSystemExceptions.translate(
                        path, () -> client(path).attributes(path.toFilePath())));
    }

    @Override
    public <A extends BasicFileAttributes> A readAttributes(
            Path path, Class<A> type, LinkOption... options) throws IOException {
        if (!type.isAssignableFrom(VolumeAttributes.class)) {
            throw new UnsupportedOperationException(
                    "A volume has only basic attributes, not " + type.getSimpleName());
        }
        return type.cast(attributes(VolumePath.of(path)));
    }

    @Override
    public <V extends FileAttributeView> @Nullable V getFileAttributeView(
            Path path, Class<V> type, LinkOption... options) {
        return type == BasicFileAttributeView.class
                ? type.cast(new View(VolumePath.of(path)))
                : null;
    }

    private record View(VolumePath path) implements BasicFileAttributeView {

        @Override
        public String name() {
            return "basic";
        }

        @Override
        public BasicFileAttributes readAttributes() throws IOException {
            return attributes(path);
        }

        @Override
        public void setTimes(
                @Nullable FileTime modified,
                @Nullable FileTime accessed,
                @Nullable FileTime created)
                throws IOException {
            if (modified != null) {
                run(
                        path,
                        () ->
                                client(path)
                                        .setAttributes(
                                                path.toFilePath(),
                                                OptionalInt.empty(),
                                                OptionalLong.of(
                                                        modified.to(TimeUnit.NANOSECONDS))));
            }
        }
    }

    @Override
    public Map<String, Object> readAttributes(Path path, String names, LinkOption... options)
            throws IOException {
        var attributes = attributes(VolumePath.of(path));
        Map<String, Object> all =
                Map.of(
                        "lastModifiedTime", attributes.lastModifiedTime(),
                        "lastAccessTime", attributes.lastAccessTime(),
                        "creationTime", attributes.creationTime(),
                        "size", attributes.size(),
                        "isRegularFile", attributes.isRegularFile(),
                        "isDirectory", attributes.isDirectory(),
                        "isSymbolicLink", false,
                        "isOther", false,
                        "fileKey", attributes.fileKey());
        var selected = names.startsWith("basic:") ? names.substring(6) : names;
        if (selected.equals("*")) {
            return all;
        }
        var result = new HashMap<String, Object>();
        for (var name : List.of(selected.split(",", -1))) {
            var value = all.get(name);
            if (value == null) {
                throw new IllegalArgumentException("Unknown attribute \"%s\"".formatted(name));
            }
            result.put(name, value);
        }
        return result;
    }

    @Override
    public void setAttribute(Path path, String name, Object value, LinkOption... options)
            throws IOException {
        var selected = name.startsWith("basic:") ? name.substring(6) : name;
        if (!selected.equals("lastModifiedTime")) {
            throw new UnsupportedOperationException("Cannot set the attribute " + name);
        }
        new View(VolumePath.of(path)).setTimes((FileTime) value, null, null);
    }
}
