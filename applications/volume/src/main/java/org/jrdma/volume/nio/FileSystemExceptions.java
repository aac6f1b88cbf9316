package org.jrdma.volume.nio;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
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
            throw translation(path.toString(), e);
        }
    }

    private static IOException translation(String path, VolumeException e) {
        var result =
                switch (e.failure()) {
                    case NOT_FOUND -> new NoSuchFileException(path);
                    case EXISTS -> new FileAlreadyExistsException(path);
                    case NOT_EMPTY -> new DirectoryNotEmptyException(path);
                    case NOT_A_FOLDER -> new NotDirectoryException(path);
                    case IS_A_FOLDER, NO_SPACE, INVALID ->
                            new FileSystemException(path, null, e.getMessage());
                    default -> e;
                };
        if (result != e) {
            result.initCause(e);
        }
        return result;
    }
}
