package org.jrdma.sockets.internal;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Describes why a file cannot be read or written, as part of a message that names the file. */
public final class FileErrorReason {

    private FileErrorReason() {}

    public static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException missing -> "there is no " + missing.getFile();
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException error when error.getReason() != null -> error.getReason();
            case MalformedInputException _ -> "the file is not UTF-8 text";
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }
}
