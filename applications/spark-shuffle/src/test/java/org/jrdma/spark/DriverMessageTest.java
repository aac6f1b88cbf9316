package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class DriverMessageTest {

    @Test
    void shouldDecodeWhatWasEncoded() {
        var listening = new DriverMessage.Listening("1", "fe80::1", 4791);
        assertThat(DriverMessage.decode(listening.encode())).isEqualTo(listening);

        var unavailable = new DriverMessage.Unavailable("1", "host", "No device:  none\nAt all");
        assertThat(DriverMessage.decode(unavailable.encode())).isEqualTo(unavailable);

        var find = new DriverMessage.Find("1");
        assertThat(DriverMessage.decode(find.encode())).isEqualTo(find);

        var report = new DriverMessage.Report("1", new ShuffleMetrics().values());
        assertThat(DriverMessage.decode(report.encode())).isEqualTo(report);
    }

    @Test
    void shouldRejectOtherTexts() {
        for (var text :
                List.of(
                        "hello world",
                        "",
                        "find",
                        "listening 1 host port",
                        "unavailable 1 host",
                        "report 1 X 2")) {
            assertThatThrownBy(() -> DriverMessage.decode(text))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining('"' + text + '"');
        }
    }
}
