package org.jrdma.interop.pingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.junit.jupiter.api.Test;

class EndpointExchangeTest {

    private static final Endpoint ENDPOINT =
            new Endpoint(0x1a, 0x11, 0x3ff0c2, new Gid(0, 0xffff_0a4d_0001L));

    /** The message that ibv_rc_pingpong sends for this endpoint. */
    private static final byte[] MESSAGE =
            "001a:000011:3ff0c2:00000000000000000000ffff0a4d0001\0".getBytes(US_ASCII);

    @Test
    void shouldEncodeAnEndpointLikeTheCProgram() {
        assertThat(EndpointExchange.toMessage(ENDPOINT)).hasSize(52).isEqualTo(MESSAGE);
    }

    @Test
    void shouldParseTheMessageOfTheCProgram() throws IOException {
        assertThat(EndpointExchange.fromMessage(MESSAGE)).isEqualTo(ENDPOINT);
    }

    @Test
    void shouldEncodeAndParseSeveralEndpoints() throws IOException {
        var messages = EndpointExchange.toMessages(List.of(ENDPOINT, ENDPOINT), 256);

        assertThat(messages).hasSize(256 * 52).startsWith(MESSAGE);
        assertThat(new String(messages, 2 * 52, 2 * 52, US_ASCII))
                .isEqualTo("0000:000000:000000:00000000000000000000000000000000\0".repeat(2));
        assertThat(EndpointExchange.fromMessages(messages, 2)).containsExactly(ENDPOINT, ENDPOINT);
        assertThatThrownBy(() -> EndpointExchange.fromMessages(messages, 3))
                .isInstanceOf(IOException.class)
                .hasMessage(
                        "The other side has 2 queue pairs, but this side has 3. Start both sides with the same -q.");
    }

    @Test
    void shouldRejectMessagesOfAnotherProgram() {
        var sshVersion =
                "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7, and some more\r\n".getBytes(US_ASCII);

        assertThatThrownBy(() -> EndpointExchange.fromMessage(sshVersion))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("SSH-2.0-OpenSSH");
    }
}
