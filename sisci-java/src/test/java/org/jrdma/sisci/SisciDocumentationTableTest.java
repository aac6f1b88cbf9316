package org.jrdma.sisci;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Checks that docs/reference/sisci.md is up to date, and generates it on request. The file lists
 * the Java equivalent of every function of the project's SISCI header. Its sources are the list of
 * functions that jextract reads, and the Javadoc of this module.
 */
class SisciDocumentationTableTest {

    private static final Path LIST = Path.of("../headers/sisci/sisci.args");
    private static final Path SOURCES = Path.of("src/main/java/org/jrdma/sisci");
    private static final Path TABLE = Path.of("../docs/reference/sisci.md");
    private static final String COMMAND =
            "mvn test -pl sisci-java -am -Dtest=SisciDocumentationTableTest -Djrdma.write=true -Dsurefire.failIfNoSpecifiedTests=false";

    private static final String WAITS =
            "not needed: waits use callbacks, so that a close can end them";

    /** The functions without a Java equivalent, and the texts for the table. */
    private static final Map<String, String> WITHOUT =
            Map.ofEntries(
                    Map.entry("SCIGetErrorString", "the messages of `SisciException`"),
                    Map.entry("SCIWaitForLocalSegmentEvent", WAITS),
                    Map.entry("SCIWaitForRemoteSegmentEvent", WAITS),
                    Map.entry("SCIWaitForDMAQueue", WAITS),
                    Map.entry("SCIWaitForDataInterrupt", WAITS),
                    Map.entry("SCIGetMapPointer", "not needed: the function that maps returns it"),
                    Map.entry("SCIMemWrite", "not needed: `RemoteMap#copyFrom`"));

    /** A Javadoc comment and the type or method that it documents. */
    private static final Pattern COMMENTED =
            Pattern.compile(
                    "(?s)/\\*\\*((?:(?!\\*/).)*)\\*/\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*public [^;{(=]*?\\b(\\w+)\\s*(?:\\(|\\{|extends|permits|implements)");

    private static final Pattern FUNCTION = Pattern.compile("\\bSCI[A-Z][A-Za-z]+\\b");

    private static List<String> functions;
    private static Map<String, Set<String>> equivalents;

    @BeforeAll
    static void read() throws IOException {
        functions =
                Files.readAllLines(LIST).stream()
                        .filter(line -> line.startsWith("--include-function "))
                        .map(line -> line.substring(line.indexOf(' ') + 1))
                        .toList();
        equivalents = new TreeMap<>();
        try (var files = Files.walk(SOURCES)) {
            var exported =
                    files.filter(Files::isRegularFile)
                            .filter(file -> !file.startsWith(SOURCES.resolve("internal")));
            for (var file : exported.toList()) {
                var type = file.getFileName().toString().replace(".java", "");
                var comments = COMMENTED.matcher(Files.readString(file));
                while (comments.find()) {
                    var equivalent =
                            comments.group(2).equals(type) ? type : type + "#" + comments.group(2);
                    FUNCTION.matcher(comments.group(1).replaceAll("\\n\\s*\\* ", " "))
                            .results()
                            .forEach(found ->
                                    equivalents
                                            .computeIfAbsent(found.group(), _ -> new TreeSet<>())
                                            .add(equivalent));
                }
            }
        }
    }

    @Test
    void shouldMatchTheJavadoc() throws IOException {
        var table = table();
        if (Boolean.getBoolean("jrdma.write")) {
            Files.writeString(TABLE, table);
        }

        assertThat(TABLE).as("To regenerate it: " + COMMAND).hasContent(table);
    }

    @Test
    void shouldHaveAnEquivalentOfEveryFunctionOrAReason() {
        assertThat(functions).hasSize(91);
        assertThat(functions)
                .allMatch(function ->
                        equivalents.containsKey(function) != WITHOUT.containsKey(function));
        assertThat(equivalents.keySet()).as("unknown names in the Javadoc").isSubsetOf(functions);
    }

    private static String table() {
        return """
        # SISCI: from C to Java

        The functions of the project's SISCI header and their Java equivalents, which are the types and methods whose Javadoc names the function. Java has %d of %d.

        This file is generated. To regenerate it:

            %s

        | C | Java |
        |---|---|
        %s
        """
                .formatted(
                        equivalents.size(),
                        functions.size(),
                        COMMAND,
                        functions.stream()
                                .map(SisciDocumentationTableTest::row)
                                .collect(joining("\n")));
    }

    private static String row(String function) {
        var java =
                equivalents.containsKey(function)
                        ? equivalents.get(function).stream()
                                .map("`%s`"::formatted)
                                .collect(joining(", "))
                        : WITHOUT.get(function);
        return "| `%s` | %s |".formatted(function, java);
    }
}
