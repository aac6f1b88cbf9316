package org.jrdma.architecture;

import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The structure of one compiled module. Nested types count as part of their top-level type.
 *
 * @param name the folder of the module, relative to the repository
 * @param types the top-level types of the module
 * @param dependencies the dependencies between different types of the module
 * @param exportedPackages the packages that the module exports to every module
 * @param sourceLines the number of lines of each source file, by its path in the module
 */
record CompiledModule(
        String name,
        Set<String> types,
        List<Dependency> dependencies,
        Set<String> exportedPackages,
        Map<String, Long> sourceLines) {

    private static final Path SOURCES = Path.of("src/main/java");
    private static final Path CLASSES = Path.of("target/classes");

    private static final Pattern CLASS_IN_DESCRIPTOR = Pattern.compile("L([\\w/$]+)[;<]");

    /**
     * Returns the folders of all modules with handwritten main code, without the modules of the
     * test infrastructure.
     */
    static List<Path> folders(Path repository) throws IOException {
        try (var folders =
                Files.find(repository, 2, (path, _) -> Files.isDirectory(path.resolve(SOURCES)))) {
            return folders.filter(folder -> !folder.startsWith(repository.resolve("headers")))
                    .filter(folder -> !folder.startsWith(repository.resolve("system-tests")))
                    .sorted()
                    .toList();
        }
    }

    static CompiledModule read(Path repository, Path folder) throws IOException {
        var mentioned = new TreeMap<String, Set<String>>();
        var exportedPackages = new HashSet<String>();
        for (var file : files(folder.resolve(CLASSES), ".class")) {
            var type = ClassFile.of().parse(file);
            if (type.isModuleInfo()) {
                exportedPackages.addAll(exportedPackages(type));
            } else if (!file.endsWith("package-info.class")) {
                mentioned
                        .computeIfAbsent(
                                topLevel(type.thisClass().asInternalName()), _ -> new TreeSet<>())
                        .addAll(mentionedTypes(type));
            }
        }
        var dependencies = new ArrayList<Dependency>();
        mentioned.forEach((user, others) ->
                others.stream()
                        .filter(other -> !other.equals(user))
                        .filter(mentioned::containsKey)
                        .forEach(used -> dependencies.add(new Dependency(user, used))));
        return new CompiledModule(
                repository.relativize(folder).toString(),
                mentioned.keySet(),
                dependencies,
                exportedPackages,
                sourceLines(folder));
    }

    private static List<Path> files(Path folder, String suffix) throws IOException {
        try (var files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(suffix)).toList();
        }
    }

    private static List<String> exportedPackages(ClassModel moduleInfo) {
        return moduleInfo.findAttribute(Attributes.module()).orElseThrow().exports().stream()
                .filter(export -> export.exportsTo().isEmpty())
                .map(export -> export.exportedPackage().asSymbol().name())
                .toList();
    }

    /**
     * Returns the top-level types that a class file mentions: in its code, and in the descriptors,
     * generic signatures and annotations of its members.
     */
    private static Set<String> mentionedTypes(ClassModel type) {
        var names = new HashSet<String>();
        for (var entry : type.constantPool()) {
            switch (entry) {
                case ClassEntry mentioned -> names.add(topLevel(mentioned.asInternalName()));
                case Utf8Entry text ->
                        CLASS_IN_DESCRIPTOR
                                .matcher(text.stringValue())
                                .results()
                                .forEach(match -> names.add(topLevel(match.group(1))));
                default -> {}
            }
        }
        return names;
    }

    private static String topLevel(String internalName) {
        var nested = internalName.indexOf('$');
        return (nested < 0 ? internalName : internalName.substring(0, nested)).replace('/', '.');
    }

    private static Map<String, Long> sourceLines(Path folder) throws IOException {
        var counts = new TreeMap<String, Long>();
        for (var file : files(folder.resolve(SOURCES), ".java")) {
            try (var lines = Files.lines(file)) {
                counts.put(folder.relativize(file).toString(), lines.count());
            }
        }
        return counts;
    }
}
