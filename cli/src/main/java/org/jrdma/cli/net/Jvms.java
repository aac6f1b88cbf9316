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
 * Finds the JVMs of a machine, including those that the JDK cannot attach to and does not list.
 *
 * @param proc the {@code /proc} folder
 */
record Jvms(Path proc) {

    static final Jvms OF_THIS_MACHINE = new Jvms(Path.of("/proc"));

    private static final String LAUNCHER = "java";

    /** The options of the java launcher that take their value from the next argument. */
    private static final Set<String> OPTIONS_WITH_VALUE =
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
     * Returns the processes whose program is java, ordered by process ID. Processes that end during
     * the search are left out.
     *
     * @param attachable the IDs of further processes that are JVMs although their program is not
     *     java
     */
    List<RunningJvm> all(Collection<Long> attachable) throws IOException {
        try (var folders = Files.list(proc)) {
            return folders.filter(folder -> folder.getFileName().toString().matches("\\d+"))
                    .map(folder -> Long.parseLong(folder.getFileName().toString()))
                    .sorted(Comparator.naturalOrder())
                    .flatMap(pid -> jvm(pid, attachable.contains(pid)).stream())
                    .toList();
        }
    }

    /**
     * Returns the JVM of a process, or empty if the process is not a JVM or has ended.
     *
     * @param isAttachable true if the process is known to be a JVM, even if its program is not java
     */
    Optional<RunningJvm> jvm(long pid, boolean isAttachable) {
        var folder = proc.resolve(Long.toString(pid));
        try {
            var words =
                    Arrays.asList(
                            Files.readString(folder.resolve("cmdline"), UTF_8).split("\0", -1));
            if (!isAttachable && !isLauncher(folder, words)) {
                return Optional.empty();
            }
            var status = Files.readAllLines(folder.resolve("status"), UTF_8);
            return Optional.of(
                    new RunningJvm(
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

    /** Returns the main class, module or jar in a command line, or an empty string. */
    private static String program(List<String> words) {
        for (var place = 1; place < words.size(); place++) {
            var word = words.get(place);
            if (OPTIONS_WITH_VALUE.contains(word)) {
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
