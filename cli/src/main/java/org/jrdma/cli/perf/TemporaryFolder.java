package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;

/** Creates folders that are deleted when this process ends, also by Ctrl+C. */
public final class TemporaryFolder {

    private TemporaryFolder() {}

    /** Creates a folder. */
    public static Path create(String prefix) throws IOException {
        var folder = Files.createTempDirectory(prefix);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
        return folder;
    }

    private static void delete(Path folder) {
        try (var files = Files.walk(folder)) {
            for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException _) {
            // the rest remains in the folder for temporary files
        }
    }
}
