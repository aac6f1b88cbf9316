package org.jrdma.nvme;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class FabricsOptionsTest {

    private static final FabricsOptions OPTIONS =
            FabricsOptions.of(HostIdentity.of(new UUID(7, 25)));

    @Test
    void shouldRejectInvalidTimes() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OPTIONS.keepAlive(Duration.ZERO))
                .withMessageStartingWith("The keep-alive timeout is PT0S.");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OPTIONS.keepAlive(Duration.ofSeconds(Long.MAX_VALUE)))
                .withMessageContaining("must be from PT0.001S to PT596H");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OPTIONS.reconnectDelay(Duration.ofNanos(999_999)))
                .withMessageStartingWith("The reconnect delay is PT0.000999999S.");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OPTIONS.reconnectDelay(Duration.ofMillis(10_001)))
                .withMessageContaining("must be from PT0.001S to PT10S");
    }
}
