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

        var find = new DriverMessage.Find("1");
        assertThat(DriverMessage.decode(find.encode())).isEqualTo(find);

        var report = new DriverMessage.Report("1", new ShuffleMetrics().values());
        assertThat(DriverMessage.decode(report.encode())).isEqualTo(report);
    }

    @Test
    void shouldRejectOtherTexts() {
        for (var text :
                List.of("hello world", "", "find", "listening 1 host port", "report 1 X 2")) {
            assertThatThrownBy(() -> DriverMessage.decode(text))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining('"' + text + '"');
        }
    }
}
