package org.jrdma.ffi.linkage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * Checks that memory is mapped into the process. The software libraries check the memory that a
 * program passes to them, because an access to unmapped memory would crash the JVM. The driver of
 * an adapter detects unmapped memory when it pins the pages.
 */
public final class MappedAddressCheck {

    private static final Path MAPS = Path.of("/proc/self/maps");

    private MappedAddressCheck() {}

    /** Returns true if the whole range is mapped and readable and, if requested, writable. */
    public static boolean isMapped(long address, long length, boolean writable) {
        var next = address;
        var end = address + length;
        try (var lines = Files.newBufferedReader(MAPS)) {
            // Each line is "start-end rwxp ...", in ascending order of addresses.
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
