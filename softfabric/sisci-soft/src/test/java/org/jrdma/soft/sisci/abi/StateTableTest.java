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
 * Compares the software fabric with a table. The table contains the result of each call in each
 * state of an object, and of some calls with other arguments.
 */
class StateTableTest {

    private static final List<ObjectStateScenario.Kind> KINDS =
            List.of(
                    SegmentScenario.KIND,
                    AttachedLocalSegmentScenario.KIND,
                    DmaQueueScenario.KIND,
                    InterruptScenario.KIND,
                    InterruptScenario.KIND_WITH_DATA);

    private static ThreeNodes nodes;

    /** A row of the table. */
    record Row(String object, String state, String call, String error, String certainty) {

        boolean isError() {
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

    private static List<Row> rows(ObjectStateScenario.Kind kind, String state) throws IOException {
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
        assertThat(found.values()).as("number of rows for each call").containsOnly(1);
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
    void shouldReturnTheErrorInTheTable(ObjectStateScenario.Kind kind, String state)
            throws Exception {
        var results = new ArrayList<String>();
        var expected = new ArrayList<String>();
        for (var row : rows(kind, state)) {
            try (var scenario = kind.create(nodes)) {
                scenario.reach(state);
                results.add(row.call() + ": " + scenario.attempt(row.call()));
                expected.add(row.call() + ": " + row.error());
            }
        }

        assertThat(results).containsExactlyElementsOf(expected);
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("states")
    void shouldNotChangeTheStateOnAnError(ObjectStateScenario.Kind kind, String state)
            throws Exception {
        var rows = rows(kind, state);
        for (var succeeding : rows.stream().filter(row -> !row.isError()).toList()) {
            try (var scenario = kind.create(nodes)) {
                scenario.reach(state);
                for (var failing : rows.stream().filter(Row::isError).toList()) {
                    assertThat(scenario.attempt(failing.call()))
                            .as("%s after other calls", failing)
                            .isEqualTo(failing.error());
                }

                assertThat(scenario.attempt(succeeding.call()))
                        .as("%s after all failing calls", succeeding)
                        .isEqualTo("OK");
            }
        }
    }
}
