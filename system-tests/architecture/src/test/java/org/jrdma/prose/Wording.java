package org.jrdma.prose;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A wording that texts avoid.
 *
 * @param pattern a regular expression that matches the wording
 * @param advice the reason, or what to write instead
 */
record Wording(Pattern pattern, String advice) {

    /** Returns the wordings of {@code wordings.tsv}. */
    static List<Wording> all() {
        return rows("wordings.tsv", 2)
                .map(row -> new Wording(Pattern.compile(row[0]), row[1]))
                .toList();
    }

    /** Returns the rows of a table beside this class, without its comments. */
    static Stream<String[]> rows(String table, int columns) {
        try (var stream = Wording.class.getResourceAsStream(table)) {
            var text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .map(line -> line.split("\t"))
                    .peek(row -> {
                        if (row.length != columns) {
                            throw new IllegalStateException(
                                    table + " needs " + columns + " columns: " + row[0]);
                        }
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
