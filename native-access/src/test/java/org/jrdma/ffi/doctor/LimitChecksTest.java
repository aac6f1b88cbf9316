package org.jrdma.ffi.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;

class LimitChecksTest {

    @Test
    void shouldWriteNumbersAlikeInEveryCountry() {
        var here = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            assertThat(LimitChecks.sharedMemory(64 << 20, 1 << 20).seen())
                    .isEqualTo("67,108,864 bytes, 1,048,576 of them free");
        } finally {
            Locale.setDefault(here);
        }
    }
}
