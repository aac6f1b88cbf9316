package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PeerAddressTest {

    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, 10.0.0.1, 7",
        "10.0.0.1:9, 10.0.0.1, 9",
        "fe80::1, fe80:0:0:0:0:0:0:1, 7",
        "[fe80::1]:9, fe80:0:0:0:0:0:0:1, 9",
        "[fe80::1], fe80:0:0:0:0:0:0:1, 7"
    })
    void shouldParseHostAndPort(String text, String host, int port) throws Exception {
        var address = Peer.parse(text, 7).address();

        assertThat(address.getAddress().getHostAddress()).isEqualTo(host);
        assertThat(address.getPort()).isEqualTo(port);
    }

    @Test
    void shouldRejectAnInvalidPort() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Peer.parse("10.0.0.1:65536", 7))
                .withMessageContaining("10.0.0.1:65536");
    }
}
