package org.jrdma.ffi.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Reads the files of a machine. They are below a root folder, which is / for the machine on which
 * this process runs, and another folder in tests.
 */
public final class MachineFiles {

    /** The machine on which this process runs. */
    public static final MachineFiles THIS = new MachineFiles(Path.of("/"));

    private final Path root;

    /** Creates a machine whose files are below {@code root}. */
    public MachineFiles(Path root) {
        this.root = root;
    }

    /** Returns true if this is the machine on which this process runs. */
    public boolean isLocal() {
        return root.equals(Path.of("/"));
    }

    /** Resolves a path relative to the root folder. The path has no leading slash. */
    public Path file(String path) {
        return root.resolve(path);
    }

    /** Returns true if a file or folder exists. */
    public boolean has(String path) {
        return Files.exists(file(path));
    }

    /** Returns the lines of a file; empty if it does not exist or cannot be read. */
    public List<String> lines(String path) {
        try {
            return Files.readAllLines(file(path));
        } catch (IOException e) {
            return List.of();
        }
    }

    /**
     * Returns the first line of a file without surrounding white space; empty if the file has no
     * line or cannot be read.
     */
    public Optional<String> line(String path) {
        return lines(path).stream().map(String::strip).findFirst();
    }

    /** Returns the sorted names in a folder; empty if it does not exist. */
    public List<String> names(String folder) {
        try (var entries = Files.list(file(folder))) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }
}
