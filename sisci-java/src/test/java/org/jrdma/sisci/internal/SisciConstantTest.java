package org.jrdma.sisci.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jrdma.abi.sisci.sisci_h;
import org.junit.jupiter.api.Test;

class SisciConstantTest {

    /**
     * Compares all names with those in the header. Otherwise, a misspelled name would remain
     * unnoticed, because a library may lack any constant.
     */
    @Test
    void shouldHaveTheExportedConstantsOfTheHeader() throws Exception {
        var exported =
                Pattern.compile("(?m)^SISCI_DATA\\((\\w+)\\)")
                        .matcher(Files.readString(Path.of("../headers/sisci/sisci.h")))
                        .results()
                        .map(match -> match.group(1))
                        .filter(name -> !name.startsWith("SCI_Q_")) // these are in sisci_query
                        .toList();

        assertThat(Arrays.stream(SisciConstant.values()).map(Enum::name)).isEqualTo(exported);
    }

    @Test
    void shouldHaveTheNumbersOfTheHeader() {
        for (var constant : SisciConstant.values()) {
            try {
                assertThat(constant.known())
                        .contains((Integer) sisci_h.class.getMethod(constant.name()).invoke(null));
            } catch (ReflectiveOperationException _) {
                assertThat(constant.known()).as(constant.name()).isEmpty();
            }
        }
    }
}
