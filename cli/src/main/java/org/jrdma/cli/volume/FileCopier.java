package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** Copies a file, or a folder with its content, between file systems. */
final class FileCopier extends SimpleFileVisitor<Path> {

    private static final int BUFFER_BYTES = 1 << 20;

    private final Path from;
    private final Path to;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private int files;
    private long bytes;

    FileCopier(Path from, Path to) {
        this.from = from;
        this.to = to;
    }

    /**
     * Copies all files. A copy replaces an existing file.
     *
     * @throws IOException if the copy would be the original or in it, or a file system fails
     */
    void copy() throws IOException {
        if (isOriginal(to)) {
            throw new IOException("%s and %s are the same file.".formatted(name(from), name(to)));
        }
        if (Files.isDirectory(from)) {
            rejectCopyInto(to.toAbsolutePath().normalize().getParent());
        }
        Files.walkFileTree(from, this);
    }

    private void rejectCopyInto(@Nullable Path target) throws IOException {
        for (var folder = target; folder != null; folder = folder.getParent()) {
            if (isOriginal(folder)) {
                throw new IOException(
                        "%s cannot be copied into itself, to %s.".formatted(name(from), name(to)));
            }
        }
    }

    /** Returns a path including its volume, because two volumes can have equal paths. */
    private static String name(Path path) {
        return path.getFileSystem().equals(FileSystems.getDefault())
                ? path.toString()
                : path.toUri().toString();
    }

    /** Returns false only if the file does not exist, because a copy would truncate it. */
    private boolean isOriginal(Path path) throws IOException {
        try {
            return Files.isSameFile(from, path);
        } catch (NoSuchFileException _) {
            return false;
        }
    }

    /** Returns the number of files that were copied. */
    int files() {
        return files;
    }

    /** Returns the number of bytes that were copied. */
    long bytes() {
        return bytes;
    }

    private Path target(Path path) {
        return path.equals(from) ? to : to.resolve(from.relativize(path).toString());
    }

    @Override
    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes)
            throws IOException {
        var copy = target(folder);
        if (Files.exists(copy) && !Files.isDirectory(copy)) {
            throw new IOException("%s is not a folder.".formatted(name(copy)));
        }
        if (!Files.exists(copy)) {
            try {
                Files.createDirectory(copy);
            } catch (NoSuchFileException e) {
                throw missingFolder(copy, e);
            }
        }
        return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        if (!Files.isRegularFile(file)) { // follows a symbolic link
            throw new IOException("%s is not a regular file.".formatted(file));
        }
        try (var source = FileChannel.open(file, StandardOpenOption.READ)) {
            copy(source, target(file));
        }
        files++;
        return FileVisitResult.CONTINUE;
    }

    private void copy(FileChannel source, Path target) throws IOException {
        var copy = create(target);
        try (copy) {
            while (source.read(buffer.clear()) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining()) {
                    bytes += copy.write(buffer);
                }
            }
        } catch (IOException e) {
            throw new IOException(
                    "The copy %s is incomplete. %s"
                            .formatted(target, FileFailures.explain(e).getMessage()),
                    e);
        }
    }

    private static FileChannel create(Path file) throws IOException {
        try {
            return FileChannel.open(
                    file,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING);
        } catch (NoSuchFileException e) {
            throw missingFolder(file, e);
        }
    }

    private static IOException missingFolder(Path file, NoSuchFileException e) {
        return new IOException(
                "There is no folder %s.".formatted(file.toAbsolutePath().getParent()), e);
    }
}
