package org.jrdma.prose;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Finds the texts in all handwritten files of the repository. */
final class RepositoryTexts {

    static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private static final Set<String> OTHER_FOLDERS = Set.of("target", ".git", ".idea", ".mvn");

    /**
     * The path suffixes of files that are not searched: tables and tests of the avoided wordings,
     * the license, and generated files.
     */
    private static final List<String> OTHER_FILES =
            List.of(
                    "wordings.tsv",
                    "exceptions.tsv",
                    "prose/ProseTest.java",
                    "prose/TextExtractionTest.java",
                    "LICENSE",
                    ".svg",
                    ".sha256");

    private RepositoryTexts() {}

    static List<TextWithLocation> texts() throws IOException {
        var texts = new ArrayList<TextWithLocation>();
        for (var file : files()) {
            texts.addAll(textsOf(file));
        }
        return texts;
    }

    /** Returns all files of the repository except generated ones. */
    static List<Path> files() throws IOException {
        var files = new ArrayList<Path>();
        Files.walkFileTree(
                ROOT,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(
                            Path folder, BasicFileAttributes attributes) {
                        var skipped =
                                OTHER_FOLDERS.contains(folder.getFileName().toString())
                                        || isGenerated(ROOT.relativize(folder));
                        return skipped ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        files.add(file);
                        return FileVisitResult.CONTINUE;
                    }
                });
        return files;
    }

    private static boolean isGenerated(Path folder) {
        return folder.startsWith("headers") && folder.endsWith("src/main/java");
    }

    private static List<TextWithLocation> textsOf(Path file) throws IOException {
        var name = file.toString();
        if (OTHER_FILES.stream().anyMatch(name::endsWith)) {
            return List.of();
        }
        var path = ROOT.relativize(file).toString();
        if (name.endsWith(".java") || name.endsWith(".c") || name.endsWith(".h")) {
            return JavaTexts.find(path, Files.readString(file));
        } else if (name.endsWith(".md")) {
            return DocumentTexts.inMarkdown(path, Files.readString(file));
        } else if (name.endsWith(".xml")) {
            return DocumentTexts.inXml(path, Files.readString(file));
        } else if (name.endsWith(".html")) {
            return DocumentTexts.inHtml(path, Files.readString(file));
        } else if (name.endsWith(".tsv")) {
            return DocumentTexts.inTable(path, Files.readString(file));
        }
        return DocumentTexts.inScript(path, Files.readString(file));
    }
}
