package org.jrdma.sockets.internal;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Why a file that a property names is of no use, in the words of a line that has its name. */
public final class FileErrors {

    private FileErrors() {}

    public static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException missing -> "there is no " + missing.getFile();
            case AccessDeniedException _ -> "permission denied";
            case FileSystemException other when other.getReason() != null -> other.getReason();
            case MalformedInputException _ -> "it is no text in UTF-8";
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }
}
