package org.jrdma.volume.nio;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.regex.Pattern;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.VolumeException;

/** Translates the failures of a volume to the exceptions that {@code java.nio.file} specifies. */
final class FileSystemExceptions {

    private FileSystemExceptions() {}

    /** An operation of the client. */
    @FunctionalInterface
    interface Operation<T> {
        T run() throws FabricException;
    }

    /** Runs an operation on a file, and translates its failure. */
    static <T> T translate(VolumePath path, Operation<T> operation) throws IOException {
        try {
            return operation.run();
        } catch (VolumeException e) {
            throw translation(path, e);
        }
    }

    private static IOException translation(VolumePath path, VolumeException e) {
        var file = path.toString();
        return withCause(
                e,
                switch (e.failure()) {
                    case NOT_FOUND -> new NoSuchFileException(file);
                    case EXISTS -> new FileAlreadyExistsException(file);
                    case NOT_EMPTY -> new DirectoryNotEmptyException(file);
                    case NOT_A_FOLDER -> new NotDirectoryException(file);
                    case IS_A_FOLDER, NO_SPACE, INVALID ->
                            new FileSystemException(file, null, reason(path, e));
                    default -> e;
                });
    }

    /** Returns the exception for a failed move whose source exists. */
    static IOException moveFailure(VolumePath source, VolumePath target, VolumeException e) {
        var from = source.toString();
        var to = target.toString();
        return withCause(
                e,
                switch (e.failure()) {
                    case NOT_FOUND -> new NoSuchFileException(from, to, null);
                    case EXISTS -> new FileAlreadyExistsException(to);
                    case NOT_EMPTY -> new DirectoryNotEmptyException(to);
                    case NOT_A_FOLDER, IS_A_FOLDER, NO_SPACE, INVALID ->
                            new FileSystemException(from, to, e.getMessage());
                    default -> e;
                });
    }

    private static IOException withCause(VolumeException cause, IOException result) {
        if (result != cause) {
            result.initCause(cause);
        }
        return result;
    }

    /** Returns the message without the path, which is in the message of the exception anyway. */
    private static String reason(VolumePath path, VolumeException e) {
        var message = String.valueOf(e.getMessage());
        var prefix = Pattern.quote(path.toFilePath().toString()) + ":? ";
        return message.replaceFirst("^" + prefix, "");
    }
}
