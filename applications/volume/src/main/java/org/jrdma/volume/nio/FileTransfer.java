package org.jrdma.volume.nio;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Set;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** Copies and moves files in a volume, and between volumes. */
final class FileTransfer {

    // a volume has no links, so NOFOLLOW_LINKS has no effect
    private static final Set<CopyOption> COPY_OPTIONS =
            Set.of(REPLACE_EXISTING, COPY_ATTRIBUTES, LinkOption.NOFOLLOW_LINKS);
    private static final Set<CopyOption> MOVE_OPTIONS =
            Set.of(REPLACE_EXISTING, ATOMIC_MOVE, LinkOption.NOFOLLOW_LINKS);

    private FileTransfer() {}

    private static List<CopyOption> checked(Set<CopyOption> supported, CopyOption... options) {
        for (var option : options) {
            if (!supported.contains(option)) {
                throw new UnsupportedOperationException("Unsupported option " + option);
            }
        }
        return List.of(options);
    }

    /** Implements {@link Files#copy(Path, Path, CopyOption...)}. */
    static void copy(Path source, Path target, CopyOption... options) throws IOException {
        var copyOptions = checked(COPY_OPTIONS, options);
        var attributes = Files.readAttributes(source, BasicFileAttributes.class);
        if (isSameExistingFile(source, target)) {
            return;
        }
        if (copyOptions.contains(REPLACE_EXISTING)) {
            Files.deleteIfExists(target);
        }
        if (attributes.isDirectory()) {
            Files.createDirectory(target);
        } else {
            copyContent(source, target);
        }
        if (copyOptions.contains(COPY_ATTRIBUTES)) {
            Files.setLastModifiedTime(target, attributes.lastModifiedTime());
        }
    }

    /** Returns false only if there is no target, because a copy would replace the target. */
    private static boolean isSameExistingFile(Path source, Path target) throws IOException {
        try {
            return Files.isSameFile(source, target);
        } catch (NoSuchFileException _) {
            return false;
        }
    }

    private static void copyContent(Path source, Path target) throws IOException {
        try (var from = FileChannel.open(source, StandardOpenOption.READ)) {
            var to =
                    FileChannel.open(
                            target, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
            try (to) {
                var _ = from.transferTo(0, Long.MAX_VALUE, to);
            } catch (IOException | RuntimeException e) {
                deleteIncomplete(target, e);
                throw e;
            }
        }
    }

    private static void deleteIncomplete(Path copy, Exception failure) {
        try {
            Files.delete(copy);
        } catch (IOException | RuntimeException e) {
            failure.addSuppressed(e);
        }
    }

    /** Implements {@link Files#move}. */
    static void move(VolumePath source, VolumePath target, CopyOption... options)
            throws IOException {
        var moveOptions = checked(MOVE_OPTIONS, options);
        var isAtomic = moveOptions.contains(ATOMIC_MOVE);
        var isReplacing = moveOptions.contains(REPLACE_EXISTING);
        var client = source.fileSystem().client();
        if (!client.volumeId().equals(target.fileSystem().client().volumeId())) {
            if (isAtomic) {
                throw new AtomicMoveNotSupportedException(
                        source.toString(), target.toString(), "The files are in two volumes");
            }
            moveToOtherVolume(source, target, isReplacing);
            return;
        }
        try {
            client.rename(source.toFilePath(), target.toFilePath(), isAtomic || isReplacing);
        } catch (VolumeException e) {
            if (e.failure() == Failure.NOT_FOUND || e.failure() == Failure.NOT_A_FOLDER) {
                // throws an exception with the source if that is the reason
                var _ = Files.readAttributes(source, BasicFileAttributes.class);
            }
            throw FileSystemExceptions.moveFailure(source, target, e);
        }
    }

    private static void moveToOtherVolume(VolumePath source, VolumePath target, boolean isReplacing)
            throws IOException {
        if (Files.readAttributes(source, BasicFileAttributes.class).isDirectory()) {
            checkEmpty(source); // before the target is replaced
        }
        if (isReplacing) {
            copy(source, target, COPY_ATTRIBUTES, REPLACE_EXISTING);
        } else {
            copy(source, target, COPY_ATTRIBUTES);
        }
        Files.delete(source);
    }

    private static void checkEmpty(Path folder) throws IOException {
        try (var entries = Files.newDirectoryStream(folder)) {
            if (entries.iterator().hasNext()) {
                throw new DirectoryNotEmptyException(folder.toString());
            }
        }
    }
}
