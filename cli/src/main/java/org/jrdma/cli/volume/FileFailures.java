package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;

/** Gives exceptions of file systems, whose messages are only names of files, complete messages. */
final class FileFailures {

    private FileFailures() {}

    /** Returns an exception with a message for users. */
    static IOException explain(IOException e) {
        if (!(e instanceof FileSystemException failure)) {
            return e;
        }
        var file = failure.getFile();
        var message =
                switch (failure) {
                    case NoSuchFileException _ -> "There is no file or folder %s.".formatted(file);
                    case FileAlreadyExistsException _ -> "%s exists already.".formatted(file);
                    case NotDirectoryException _ -> "%s is not a folder.".formatted(file);
                    case DirectoryNotEmptyException _ ->
                            "The folder %s is not empty.".formatted(file);
                    case AccessDeniedException _ -> "The access to %s was denied.".formatted(file);
                    default -> "The access to %s failed: %s".formatted(file, failure.getReason());
                };
        return new IOException(message, e);
    }
}
