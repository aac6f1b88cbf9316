package org.jrdma.tck.software;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds the files of the repository, without the results of builds. The build of another module may
 * delete its results during the search.
 */
final class RepositoryFiles {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private RepositoryFiles() {}

    /** Returns the files whose names have an ending, in the order of their paths. */
    static List<Path> endingWith(String ending) throws IOException {
        var found = new ArrayList<Path>();
        Files.walkFileTree(
                ROOT,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(
                            Path folder, BasicFileAttributes attributes) {
                        return folder.endsWith("target")
                                ? FileVisitResult.SKIP_SUBTREE
                                : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        if (file.toString().endsWith(ending)) {
                            found.add(file);
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
        found.sort(null);
        return found;
    }
}
