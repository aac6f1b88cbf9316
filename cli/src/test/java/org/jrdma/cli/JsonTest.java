package org.jrdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

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
    void shouldEscapeWhatWouldEndAText() {
        assertThat(Json.of("a \"b\" \\ c\nd")).isEqualTo("\"a \\\"b\\\" \\\\ c\\u000ad\"");
    }
}
