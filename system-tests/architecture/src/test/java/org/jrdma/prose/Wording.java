package org.jrdma.prose;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A wording that texts must avoid.
 *
 * @param pattern a regular expression that matches the wording
 * @param advice the reason, or a replacement
 */
record Wording(Pattern pattern, String advice) {

    /** Returns all wordings in {@code wordings.tsv}. */
    static List<Wording> all() {
        return rows("wordings.tsv", 2)
                .map(row -> new Wording(Pattern.compile(row[0]), row[1]))
                .toList();
    }

    /**
     * Returns the rows of a table in the package of this class. Empty lines and comments are
     * omitted.
     */
    static Stream<String[]> rows(String table, int columns) {
        try (var stream = Wording.class.getResourceAsStream(table)) {
            var text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(line -> line.split("\t"))
                    .peek(row -> {
                        if (row.length != columns) {
                            throw new IllegalStateException(
                                    "%s has a row without %d columns: %s"
                                            .formatted(table, columns, row[0]));
                        }
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
