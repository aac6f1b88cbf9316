package org.jrdma.prose;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the comments, messages, scripts and documents of the repository contain no avoided
 * wording. The table {@code wordings.tsv} lists these wordings. The table {@code exceptions.tsv}
 * lists the places where a wording is correct nevertheless.
 */
class ProseTest {

    /** A row of {@code exceptions.tsv}: a file and the words that it may contain. */
    private record Place(String file, String words) {}

    private static final List<Wording> WORDINGS = Wording.all();

    @Test
    void shouldFindNoAvoidedWording() throws IOException {
        var exceptions =
                Wording.rows("exceptions.tsv", 3)
                        .map(row -> new Place(row[0], row[1]))
                        .collect(Collectors.toSet());
        var unused = new TreeSet<>(exceptions.stream().map(Place::toString).toList());
        var findings = new ArrayList<String>();
        for (var text : RepositoryTexts.texts()) {
            for (var wording : WORDINGS) {
                var matcher = wording.pattern().matcher(text.words());
                while (matcher.find()) {
                    var place = new Place(text.file(), matcher.group().strip());
                    if (exceptions.contains(place)) {
                        unused.remove(place.toString());
                    } else {
                        findings.add(finding(text, matcher.start(), matcher.end(), wording));
                    }
                }
            }
        }

        assertThat(findings).isEmpty();
        assertThat(unused).as("exceptions that no text needs").isEmpty();
    }

    private static String finding(TextWithLocation text, int start, int end, Wording wording) {
        var words = text.words();
        return "%s:%d: \"%s\" in \"%s\". %s"
                .formatted(
                        text.file(),
                        text.line(),
                        words.substring(start, end).strip(),
                        words.substring(
                                Math.max(start - 40, 0), Math.min(end + 40, words.length())),
                        wording.advice());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "What belongs together on a device: a queue pair reaches only its own domain.",
                "Who connected is told of this one",
                "is no step of a queue pair",
                "Has something run when close() begins, by whomever",
                "Whoever comes along drives the engine, under a lock",
                "The same for a region of the caller's.",
                "It polls anew, else it waits.",
                "-q is too much, or misses its value",
                "Waits for the accesses, and commits what was written.",
                "Posting and polling neither allocate, lock nor wait.",
                "'none' is not an int"
            })
    void shouldFindAvoidedWordings(String sentence) {
        assertThat(WORDINGS).anyMatch(wording -> wording.pattern().matcher(sentence).find());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "A protection domain: queue pairs can access only memory registered in it.",
                "Returns what the provider reported, or null if there is no such device.",
                "This page describes what the library guarantees, and what to configure.",
                "The caller's buffer. There is no limit.",
                "If the peer disconnected, the channel is closed; otherwise this method waits."
            })
    void shouldAcceptPlainEnglish(String sentence) {
        assertThat(WORDINGS).noneMatch(wording -> wording.pattern().matcher(sentence).find());
    }
}
