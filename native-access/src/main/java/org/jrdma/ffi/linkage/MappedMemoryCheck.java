package org.jrdma.ffi.linkage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Checks which memory of the process is mapped. A driver of an adapter finds out by pinning the
 * pages; in a software library, an access to unmapped memory would crash the JVM.
 */
public final class MappedMemoryCheck {

    private static final Path MAPS = Path.of("/proc/self/maps");

    private MappedMemoryCheck() {}

    /** Returns true if the whole range is mapped and readable and, if requested, writable. */
    public static boolean isMapped(long address, long length, boolean writable) {
        var next = address;
        var end = address + length;
        try (var lines = Files.newBufferedReader(MAPS)) {
            // "start-end rwxp ...", in ascending order
            for (var line = lines.readLine(); line != null && next < end; line = lines.readLine()) {
                var dash = line.indexOf('-');
                var space = line.indexOf(' ', dash);
                var mappedFrom = HexFormat.fromHexDigitsToLong(line, 0, dash);
                var mappedTo = HexFormat.fromHexDigitsToLong(line, dash + 1, space);
                if (Long.compareUnsigned(mappedTo, next) <= 0) {
                    continue;
                }
                if (Long.compareUnsigned(mappedFrom, next) > 0
                        || line.charAt(space + 1) != 'r'
                        || (writable && line.charAt(space + 2) != 'w')) {
                    return false;
                }
                next = mappedTo;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read " + MAPS, e);
        }
        return next >= end;
    }
}
