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

    private enum Colour {
        RED
    }

    private record Point(int x, Optional<Boolean> known, Colour colour, List<String> names) {}

    @Test
    void shouldWriteRecordsWithTheirComponentsInOrder() {
        assertThat(Json.of(new Point(-1, Optional.of(true), Colour.RED, List.of("a", "b"))))
                .isEqualTo("{\"x\":-1,\"known\":true,\"colour\":\"RED\",\"names\":[\"a\",\"b\"]}");
    }

    @Test
    void shouldWriteNullForNothing() {
        assertThat(Json.of(new Point(0, Optional.empty(), Colour.RED, List.of())))
                .isEqualTo("{\"x\":0,\"known\":null,\"colour\":\"RED\",\"names\":[]}");
    }

    @Test
    void shouldBeJson() {
        assertThat(
                        StrictJson.parse(
                                Json.of(
                                        new Point(
                                                -1, Optional.of(true), Colour.RED, List.of("a")))))
                .isEqualTo(
                        Map.of("x", -1.0, "known", true, "colour", "RED", "names", List.of("a")));
    }

    /** So that other tests can tell. */
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
    void shouldTellWhatIsNone(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> StrictJson.parse(text));
    }

    @Test
    void shouldEscapeWhatWouldEndAText() {
        assertThat(Json.of("a \"b\" \\ c\nd")).isEqualTo("\"a \\\"b\\\" \\\\ c\\u000ad\"");
    }
}
