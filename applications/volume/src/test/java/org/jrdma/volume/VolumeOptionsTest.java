package org.jrdma.volume;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

class VolumeOptionsTest {

    @Test
    void shouldRejectAnAddressThatCannotBeParsed() {
        var servers = List.of(List.of("sockets:a:1"), List.of("sockets:b:1", "sockets:b:x"));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> VolumeOptions.of("volume", servers))
                .withMessageStartingWith("\"sockets:b:x\" is not an address");
    }
}
