package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class DriverMessageTest {

    @Test
    void shouldDecodeWhatWasEncoded() {
        var listening = new DriverMessage.Listening("1", "fe80::1", 4791);
        assertThat(DriverMessage.decode(listening.encode())).isEqualTo(listening);

        var find = new DriverMessage.Find("1");
        assertThat(DriverMessage.decode(find.encode())).isEqualTo(find);

        var report = new DriverMessage.Report("1", 5, -1, Long.MAX_VALUE);
        assertThat(DriverMessage.decode(report.encode()))
                .isInstanceOfSatisfying(
                        DriverMessage.Report.class,
                        decoded -> {
                            assertThat(decoded.executor()).isEqualTo("1");
                            assertThat(decoded.values()).containsExactly(5, -1, Long.MAX_VALUE);
                        });
    }

    @Test
    void shouldRejectOtherTexts() {
        assertThatThrownBy(() -> DriverMessage.decode("hello world"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("hello world");
    }
}
