package org.jrdma.cli.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jrdma.cli.StrictJson;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

    private enum Color {
        DARK_RED
    }

    private record Point(int x, Optional<Boolean> known, Color color, List<String> names) {}

    @Test
    void shouldWriteRecordsWithTheirComponentsInOrder() {
        assertThat(Json.of(new Point(-1, Optional.of(true), Color.DARK_RED, List.of("a", "b"))))
                .isEqualTo(
                        "{\"x\":-1,\"known\":true,\"color\":\"dark-red\",\"names\":[\"a\",\"b\"]}");
    }

    @Test
    void shouldWriteNullForAnEmptyOptional() {
        assertThat(Json.of(new Point(0, Optional.empty(), Color.DARK_RED, List.of())))
                .isEqualTo("{\"x\":0,\"known\":null,\"color\":\"dark-red\",\"names\":[]}");
    }

    @Test
    void shouldWriteValidJson() {
        assertThat(
                        StrictJson.parse(
                                Json.of(
                                        new Point(
                                                -1,
                                                Optional.of(true),
                                                Color.DARK_RED,
                                                List.of("a")))))
                .isEqualTo(
                        Map.of(
                                "x",
                                -1.0,
                                "known",
                                true,
                                "color",
                                "dark-red",
                                "names",
                                List.of("a")));
    }

    /** Verifies the parser that other tests use to verify output. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[1",
                "[1,]",
                "{\"a\":1,}",
                "{\"a\" 1}",
                "{\"a\":1,\"a\":2}",
                "NaN",
                "01",
                "1.",
                "\"\t\"",
                "\"\\x\"",
                "'a'",
                "[] []",
                "nul",
                "{a:1}"
            })
    void shouldRejectInvalidJson(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> StrictJson.parse(text));
    }

    @Test
    void shouldEscapeSpecialCharacters() {
        assertThat(Json.of("a \"b\" \\ c\nd")).isEqualTo("\"a \\\"b\\\" \\\\ c\\u000ad\"");
        assertThat(Json.of("\u001b[2J\u007f\u009b\u202e\u2028"))
                .isEqualTo("\"\\u001b[2J\\u007f\\u009b\\u202e\\u2028\"");
    }
}
