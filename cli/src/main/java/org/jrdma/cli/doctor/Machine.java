package org.jrdma.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What the files of a machine tell of it: those below a folder, / for this machine. */
final class Machine {

    private final Path root;

    Machine(Path root) {
        this.root = root;
    }

    /** Whether it is the machine that this runs on. */
    boolean isThisOne() {
        return root.equals(Path.of("/"));
    }

    /** A file by its path from the root, without a slash at its beginning. */
    Path file(String path) {
        return root.resolve(path);
    }

    boolean has(String path) {
        return Files.exists(file(path));
    }

    /** The lines of a file; none if it is not there, or not for this user. */
    List<String> lines(String path) {
        try {
            return Files.readAllLines(file(path));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** The first line of a file, without space around it; empty if there is none. */
    Optional<String> line(String path) {
        return lines(path).stream().map(String::strip).findFirst();
    }

    /** The names in a folder, in order; none if it is not there. */
    List<String> names(String folder) {
        try (var entries = Files.list(file(folder))) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }
}
