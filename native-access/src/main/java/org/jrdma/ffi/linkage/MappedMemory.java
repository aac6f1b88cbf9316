package org.jrdma.ffi.linkage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * What of the process's memory can be accessed. An adapter's driver pins pages, which finds out;
 * here an access to what is not there would end the JVM.
 */
public final class MappedMemory {

    private static final Path MAPS = Path.of("/proc/self/maps");

    private MappedMemory() {}

    /** Whether all of it is mapped, readable, and writable where that is asked for. */
    public static boolean isThere(long address, long length, boolean writable) {
        var next = address;
        var end = address + length;
        try (var lines = Files.newBufferedReader(MAPS)) {
            // "start-end rwxp ...", by rising addresses
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
            throw new UncheckedIOException(MAPS + " cannot be read", e);
        }
        return next >= end;
    }
}
