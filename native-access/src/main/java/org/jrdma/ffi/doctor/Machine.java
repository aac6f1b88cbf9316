package org.jrdma.ffi.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What the files of a machine tell of it: those below a folder, / for this machine. */
public final class Machine {

    /** The one that this runs on. */
    public static final Machine THIS = new Machine(Path.of("/"));

    private final Path root;

    /** The one whose files are below {@code root}. */
    public Machine(Path root) {
        this.root = root;
    }

    /** Whether it is the machine that this runs on. */
    public boolean isThisOne() {
        return root.equals(Path.of("/"));
    }

    /** A file by its path from the root, without a slash at its beginning. */
    public Path file(String path) {
        return root.resolve(path);
    }

    public boolean has(String path) {
        return Files.exists(file(path));
    }

    /** The lines of a file; none if it is not there, or not for this user. */
    public List<String> lines(String path) {
        try {
            return Files.readAllLines(file(path));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The first line of a file, without space around it; empty if there is none. */
    public Optional<String> line(String path) {
        return lines(path).stream().map(String::strip).findFirst();
    }

    /** The names in a folder, in order; none if it is not there. */
    public List<String> names(String folder) {
        try (var entries = Files.list(file(folder))) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }
}
