package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.jrdma.verbs.model.Mtu;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MtuTest {

    @ParameterizedTest
    @CsvSource({
        "BYTES_256, 256",
        "BYTES_512, 512",
        "BYTES_1024, 1024",
        "BYTES_2048, 2048",
        "BYTES_4096, 4096"
    })
    void shouldReturnTheNumberOfBytes(Mtu mtu, int bytes) {
        assertThat(mtu.bytes()).isEqualTo(bytes);
        assertThat(Mtu.ofBytes(bytes)).isEqualTo(mtu);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -256, 255, 1500, 8192})
    void shouldRejectOtherSizes(int bytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Mtu.ofBytes(bytes))
                .withMessage("The MTU must be 256, 512, 1024, 2048 or 4096 bytes: " + bytes);
    }
}
