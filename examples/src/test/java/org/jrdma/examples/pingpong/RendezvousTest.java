package org.jrdma.examples.pingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.jrdma.verbs.Endpoint;
import org.jrdma.verbs.Gid;
import org.junit.jupiter.api.Test;

class RendezvousTest {

    private static final Endpoint ENDPOINT =
            new Endpoint(0x1a, 0x11, 0x3ff0c2, new Gid(0, 0xffff_0a4d_0001L));

    /** As ibv_rc_pingpong sends it. */
    private static final byte[] MESSAGE =
            "001a:000011:3ff0c2:00000000000000000000ffff0a4d0001\0".getBytes(US_ASCII);

    @Test
    void shouldSayWhereItIsAsTheCProgramDoes() {
        assertThat(Rendezvous.toMessage(ENDPOINT)).hasSize(52).isEqualTo(MESSAGE);
    }

    @Test
    void shouldUnderstandTheCProgram() throws IOException {
        assertThat(Rendezvous.fromMessage(MESSAGE)).isEqualTo(ENDPOINT);
    }

    @Test
    void shouldRefuseWhatAnotherProgramSays() {
        var greeting =
                "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7, and some more\r\n".getBytes(US_ASCII);

        assertThatThrownBy(() -> Rendezvous.fromMessage(greeting))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("SSH-2.0-OpenSSH");
    }
}
