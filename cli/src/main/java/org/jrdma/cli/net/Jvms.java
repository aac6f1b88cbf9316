package org.jrdma.cli.net;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The JVMs of a machine: the JDK's own list leaves those out that it cannot attach to.
 *
 * @param proc where the kernel tells of processes
 */
record Jvms(Path proc) {

    static final Jvms OF_THIS_MACHINE = new Jvms(Path.of("/proc"));

    private static final String LAUNCHER = "java";

    /** Options of the launcher that have a word of their own behind them. */
    private static final Set<String> WITH_VALUE =
            Set.of(
                    "-cp",
                    "-classpath",
                    "--class-path",
                    "-p",
                    "--module-path",
                    "--upgrade-module-path",
                    "--add-modules",
                    "--limit-modules",
                    "--add-exports",
                    "--add-opens",
                    "--add-reads",
                    "--enable-native-access");

    /**
     * All whose program is java, and those of {@code known} too, which may be other programs.
     * Processes that end meanwhile are left out.
     */
    List<Jvm> all(Collection<Long> known) throws IOException {
        try (var folders = Files.list(proc)) {
            return folders.filter(folder -> folder.getFileName().toString().matches("\\d+"))
                    .map(folder -> Long.parseLong(folder.getFileName().toString()))
                    .sorted(Comparator.naturalOrder())
                    .flatMap(pid -> jvm(pid, known.contains(pid)).stream())
                    .toList();
        }
    }

    /** One of them; empty if it is none, or has ended. */
    Optional<Jvm> jvm(long pid, boolean isKnown) {
        var folder = proc.resolve(Long.toString(pid));
        try {
            var words =
                    Arrays.asList(
                            Files.readString(folder.resolve("cmdline"), UTF_8).split("\0", -1));
            if (!isKnown && !isLauncher(folder, words)) {
                return Optional.empty();
            }
            var status = Files.readAllLines(folder.resolve("status"), UTF_8);
            return Optional.of(
                    new Jvm(
                            pid,
                            program(words),
                            field(status, "Uid").equals(ownUser()),
                            Files.getOwner(folder).getName(),
                            field(status, "NSpid").split("\\s+").length > 1));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static boolean isLauncher(Path folder, List<String> words) throws IOException {
        return Files.readString(folder.resolve("comm"), UTF_8).strip().equals(LAUNCHER)
                || (!words.getFirst().isEmpty() && Path.of(words.getFirst()).endsWith(LAUNCHER));
    }

    private String ownUser() throws IOException {
        return field(Files.readAllLines(proc.resolve("self/status"), UTF_8), "Uid");
    }

    private static String field(List<String> status, String name) {
        return status.stream()
                .filter(line -> line.startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElse("");
    }

    /** The main class, module or jar of a command line. */
    private static String program(List<String> words) {
        for (var place = 1; place < words.size(); place++) {
            var word = words.get(place);
            if (WITH_VALUE.contains(word)) {
                place++;
            } else if (Stream.of("-jar", "-m", "--module").anyMatch(word::equals)) {
                return place + 1 < words.size() ? words.get(place + 1) : "";
            } else if (!word.startsWith("-") && !word.startsWith("@")) {
                return word;
            }
        }
        return "";
    }
}
