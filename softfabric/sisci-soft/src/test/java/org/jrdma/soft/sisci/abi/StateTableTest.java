package org.jrdma.soft.sisci.abi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jrdma.soft.sisci.FaultOptions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Goes through a table of what each call answers in each state: all calls of an object in all of
 * its states, and some more calls with other arguments.
 */
class StateTableTest {

    private static final List<Story.Kind> KINDS =
            List.of(
                    SegmentStory.KIND,
                    AttachedSegmentStory.KIND,
                    DmaQueueStory.KIND,
                    InterruptStory.KIND,
                    InterruptStory.KIND_WITH_DATA);

    private static ThreeNodes nodes;

    /** One line of it. */
    record Row(String object, String state, String call, String error, String certainty) {

        boolean isRefused() {
            return !error.equals("OK");
        }
    }

    @BeforeAll
    static void join() throws IOException {
        nodes = new ThreeNodes(FaultOptions.NONE);
    }

    @AfterAll
    static void leave() throws IOException {
        nodes.close();
    }

    private static List<Row> table() throws IOException {
        var rows = new ArrayList<Row>();
        var object = "";
        try (var table = StateTableTest.class.getResourceAsStream("states.txt")) {
            var lines = new String(table.readAllBytes(), UTF_8).lines().toList();
            for (var line : lines) {
                if (line.startsWith("[")) {
                    object = line.substring(1, line.indexOf(']'));
                } else if (!line.isBlank() && !line.startsWith("#")) {
                    var parts = Stream.of(line.split("\\|")).map(String::strip).toList();
                    rows.add(
                            new Row(
                                    object,
                                    parts.get(0),
                                    parts.get(1),
                                    parts.get(2),
                                    parts.get(3)));
                }
            }
        }
        return rows;
    }

    private static List<Row> rows(Story.Kind kind, String state) throws IOException {
        return table().stream()
                .filter(row -> row.object().equals(kind.object()) && row.state().equals(state))
                .toList();
    }

    @Test
    void shouldHaveARowForEachCallInEachState() throws IOException {
        var found = new TreeMap<String, Integer>();
        for (var row : table()) {
            assertThat(row.certainty()).isIn("known", "likely", "guess");
            found.merge(
                    "%s | %s | %s".formatted(row.object(), row.state(), row.call()),
                    1,
                    Integer::sum);
        }
        for (var kind : KINDS) {
            for (var state : kind.states()) {
                for (var call : kind.calls()) {
                    assertThat(found)
                            .containsKey("%s | %s | %s".formatted(kind.object(), state, call));
                }
            }
        }
        assertThat(found.values()).as("each once").containsOnly(1);
        assertThat(table())
                .allSatisfy(row ->
                        assertThat(KINDS)
                                .anyMatch(kind ->
                                        kind.object().equals(row.object())
                                                && kind.states().contains(row.state())));
    }

    static List<Arguments> states() {
        return KINDS.stream()
                .flatMap(kind -> kind.states().stream().map(state -> arguments(kind, state)))
                .toList();
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("states")
    void shouldAnswerEachCallAsTheTableSays(Story.Kind kind, String state) throws Exception {
        var answers = new ArrayList<String>();
        var expected = new ArrayList<String>();
        for (var row : rows(kind, state)) {
            try (var story = kind.begin(nodes)) {
                story.reach(state);
                answers.add(row.call() + ": " + story.attempt(row.call()));
                expected.add(row.call() + ": " + row.error());
            }
        }

        assertThat(answers).containsExactlyElementsOf(expected);
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("states")
    void shouldStayAsItIsWhereCallsAreRefused(Story.Kind kind, String state) throws Exception {
        var rows = rows(kind, state);
        for (var granted : rows.stream().filter(row -> !row.isRefused()).toList()) {
            try (var story = kind.begin(nodes)) {
                story.reach(state);
                for (var refused : rows.stream().filter(Row::isRefused).toList()) {
                    assertThat(story.attempt(refused.call()))
                            .as("%s after others", refused)
                            .isEqualTo(refused.error());
                }

                assertThat(story.attempt(granted.call()))
                        .as("%s after all that is refused", granted)
                        .isEqualTo("OK");
            }
        }
    }
}
