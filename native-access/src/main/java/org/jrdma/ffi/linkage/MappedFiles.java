package org.jrdma.ffi.linkage;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The files mapped into this process, to tell a user which of several installed libraries was
 * taken.
 */
final class MappedFiles {

    private static final Path MAPS = Path.of("/proc/self/maps");

    private MappedFiles() {}

    /**
     * The path of a mapped file whose name begins with {@code soname}; the dynamic linker maps
     * {@code libx.so.1} as {@code libx.so.1.14.44}.
     */
    static Optional<String> find(String soname) {
        try (var lines = Files.lines(MAPS)) {
            return lines.filter(line -> line.indexOf('/') >= 0)
                    .map(line -> line.substring(line.indexOf('/')))
                    .filter(path -> path.substring(path.lastIndexOf('/') + 1).startsWith(soname))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty(); // a convenience of a log line; /proc may be hidden
        }
    }
}
