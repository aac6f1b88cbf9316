package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KnownPropertiesTest {

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(jrdma\\.[^`]+)` \\|");

    @Test
    void shouldBeDescribedInTheProductionNotes() throws Exception {
        var page = Files.readString(Path.of("..", "docs", "use", "production.md"));

        assertThat(ROW.matcher(page).results().map(row -> row.group(1)))
                .containsExactlyInAnyOrderElementsOf(KnownProperties.names());
    }

    @ParameterizedTest
    @CsvSource({
        "jrdma., jrdma.fabrik, jrdma.fabric",
        "jrdma., jrdma.soft.los, jrdma.soft.loss",
        "jrdma., jrdma.socket.transports, jrdma.sockets.transports",
        "jrdma., jrdma.soft.device, jrdma.soft.devices",
        "jrdma.sisci., jrdma.sisci.mapbyte, jrdma.sisci.mapbytes",
        "jrdma.sisci., jrdma.sisci.Weak, jrdma.sisci.weak"
    })
    void shouldRejectAnUnknownNameAndSuggestTheMostSimilar(
            String prefix, String unknown, String known) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KnownProperties.rejectUnknown(prefix, List.of(unknown)))
                .withMessage("Unknown system property %s. Did you mean %s?", unknown, known);
    }

    @Test
    void shouldAcceptItsOwnNamesAndThoseOfOthers() {
        assertThatCode(
                        () -> {
                            KnownProperties.rejectUnknown("jrdma.", KnownProperties.names());
                            KnownProperties.rejectUnknown(
                                    "jrdma.", List.of("java.home", "jrdma", "jrdma.test.quick"));
                            KnownProperties.rejectUnknown("jrdma.soft.", List.of("jrdma.fabrik"));
                        })
                .doesNotThrowAnyException();
    }
}
