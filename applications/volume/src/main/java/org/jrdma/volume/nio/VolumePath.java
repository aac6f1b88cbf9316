package org.jrdma.volume.nio;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.volume.protocol.FilePath;
import org.jspecify.annotations.Nullable;

/**
 * A path in a volume. Relative paths are relative to the root.
 *
 * @param fileSystem the volume
 * @param isAbsolute true if the path starts at the root
 * @param names the names; a single empty name for the empty path
 */
record VolumePath(VolumeFileSystem fileSystem, boolean isAbsolute, List<String> names)
        implements Path {

    VolumePath {
        names = List.copyOf(names);
    }

    static VolumePath parse(VolumeFileSystem fileSystem, String text) {
        if (text.isEmpty()) {
            return new VolumePath(fileSystem, false, List.of(""));
        }
        if (text.indexOf(0) >= 0) {
            throw new java.nio.file.InvalidPathException(text, "A path must not contain NUL");
        }
        var names = List.of(text.split("/")).stream().filter(name -> !name.isEmpty()).toList();
        return new VolumePath(fileSystem, text.startsWith("/"), names);
    }

    static VolumePath of(Path path) {
        if (path instanceof VolumePath volumePath) {
            return volumePath;
        }
        throw new ProviderMismatchException("%s is not a path of a volume".formatted(path));
    }

    /** Returns the position of the file, for the client. */
    FilePath toFilePath() {
        return new FilePath(toAbsolutePath().normalize().names);
    }

    private VolumePath with(boolean absolute, List<String> newNames) {
        return !absolute && newNames.isEmpty()
                ? new VolumePath(fileSystem, false, List.of(""))
                : new VolumePath(fileSystem, absolute, newNames);
    }

    private boolean isEmptyPath() {
        return !isAbsolute && names.equals(List.of(""));
    }

    @Override
    public FileSystem getFileSystem() {
        return fileSystem;
    }

    @Override
    public @Nullable Path getRoot() {
        return isAbsolute ? with(true, List.of()) : null;
    }

    @Override
    public @Nullable Path getFileName() {
        return names.isEmpty() ? null : with(false, List.of(names.getLast()));
    }

    @Override
    public @Nullable Path getParent() {
        if (names.size() > 1) {
            return with(isAbsolute, names.subList(0, names.size() - 1));
        }
        return isAbsolute && names.size() == 1 ? getRoot() : null;
    }

    @Override
    public int getNameCount() {
        return names.size();
    }

    @Override
    public Path getName(int index) {
        return subpath(index, index + 1);
    }

    @Override
    public Path subpath(int beginIndex, int endIndex) {
        if (beginIndex < 0 || endIndex > names.size() || beginIndex >= endIndex) {
            throw new IllegalArgumentException(
                    "Invalid names %d to %d of %s".formatted(beginIndex, endIndex, this));
        }
        return with(false, names.subList(beginIndex, endIndex));
    }

    @Override
    public boolean startsWith(Path other) {
        return other instanceof VolumePath path
                && path.fileSystem == fileSystem
                && path.isAbsolute == isAbsolute
                && path.names.size() <= names.size()
                && names.subList(0, path.names.size()).equals(path.names);
    }

    @Override
    public boolean endsWith(Path other) {
        if (!(other instanceof VolumePath path)
                || path.fileSystem != fileSystem
                || path.names.size() > names.size()) {
            return false;
        }
        if (path.isAbsolute) {
            return equals(path);
        }
        return names.subList(names.size() - path.names.size(), names.size()).equals(path.names);
    }

    @Override
    public VolumePath normalize() {
        var result = new ArrayList<String>();
        for (var name : names) {
            if (!name.equals("..")) {
                if (!name.equals(".") && !name.isEmpty()) {
                    result.add(name);
                }
            } else if (!result.isEmpty() && !result.getLast().equals("..")) {
                result.removeLast();
            } else if (!isAbsolute) { // the root has no parent
                result.add(name);
            }
        }
        return with(isAbsolute, result);
    }

    @Override
    public Path resolve(Path other) {
        var path = of(other);
        if (path.isAbsolute || isEmptyPath()) {
            return path;
        }
        if (path.isEmptyPath()) {
            return this;
        }
        var result = new ArrayList<>(names);
        result.addAll(path.names);
        return with(isAbsolute, result);
    }

    @Override
    public Path relativize(Path other) {
        var path = of(other);
        if (path.isAbsolute != isAbsolute) {
            throw new IllegalArgumentException(
                    "%s and %s are not of the same type".formatted(this, other));
        }
        if (isEmptyPath()) {
            return path;
        }
        var target = path.isEmptyPath() ? List.<String>of() : path.names;
        var common = 0;
        while (common < names.size()
                && common < target.size()
                && names.get(common).equals(target.get(common))) {
            common++;
        }
        var result = new ArrayList<String>();
        for (var i = common; i < names.size(); i++) {
            result.add("..");
        }
        result.addAll(target.subList(common, target.size()));
        return with(false, result);
    }

    @Override
    public URI toUri() {
        try {
            return new URI(
                    VolumeFileSystemProvider.SCHEME,
                    fileSystem.authority(),
                    toAbsolutePath().toString(),
                    null,
                    null);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public VolumePath toAbsolutePath() {
        return isAbsolute
                ? this
                : new VolumePath(fileSystem, true, isEmptyPath() ? List.of() : names);
    }

    @Override
    public Path toRealPath(LinkOption... options) throws java.io.IOException {
        var real = toAbsolutePath().normalize();
        if (!java.nio.file.Files.exists(real)) {
            throw new NoSuchFileException(toString());
        }
        return real;
    }

    @Override
    public WatchKey register(
            WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
        throw new UnsupportedOperationException("A volume cannot be watched");
    }

    @Override
    public int compareTo(Path other) {
        return toString().compareTo(of(other).toString());
    }

    @Override
    public String toString() {
        return (isAbsolute ? "/" : "") + String.join("/", names);
    }
}
