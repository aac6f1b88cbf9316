package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {

    private static final Gid GID = Gid.parse("00000000000000000000ffff0a4d0001");
    private static final Endpoint ENDPOINT = new Endpoint(0x12, 0x1a, 0x3ff0c2, GID);

    @Test
    void shouldEncodeAsTwentySixBytesInNetworkOrder() {
        assertThat(HexFormat.of().formatHex(ENDPOINT.toBytes()))
                .isEqualTo(
                        "0012" + "0000001a" + "003ff0c2" + "0000000000000000" + "0000ffff0a4d0001");
        assertThat(ENDPOINT.toBytes()).hasSize(Endpoint.BYTES);
    }

    @Test
    void shouldDecodeFromThePositionOfABuffer() {
        var largest = new Endpoint(0xffff, 0xffffff, 0xffffff, new Gid(-1, -1));
        var buffer = ByteBuffer.allocate(52).put(ENDPOINT.toBytes()).put(largest.toBytes()).flip();

        assertThat(Endpoint.from(buffer)).isEqualTo(ENDPOINT);
        assertThat(Endpoint.from(buffer)).isEqualTo(largest);
    }

    @Test
    void shouldRejectTooFewBytes() {
        assertThatExceptionOfType(BufferUnderflowException.class)
                .isThrownBy(() -> Endpoint.from(ByteBuffer.allocate(25)));
    }

    @Test
    void shouldRejectBytesThatAreOutOfRange() {
        var bytes = ByteBuffer.allocate(26).putInt(2, 0x0100_0000);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Endpoint.from(bytes))
                .withMessage("The queue pair number must be between 0 and 16777215: 16777216");
    }

    @Test
    void shouldUseTheTextFormatOfTheCExamples() {
        var text = "0012:00001a:3ff0c2:00000000000000000000ffff0a4d0001";

        assertThat(ENDPOINT).hasToString(text);
        assertThat(Endpoint.parse(text)).isEqualTo(ENDPOINT);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0012:00001a:3ff0c2",
                "0012:00001a:3ff0c2:00:00",
                "0012:00001a:3ff0c2:0000ffff0a4d0001",
                "00x2:00001a:3ff0c2:00000000000000000000ffff0a4d0001",
                "10000:00001a:3ff0c2:00000000000000000000ffff0a4d0001",
                "0012:100001a:3ff0c2:00000000000000000000ffff0a4d0001",
                "0012:-1:3ff0c2:00000000000000000000ffff0a4d0001",
                "0012:00001a:3ff0c2:0000000000000000000 ffff0a4d0001"
            })
    void shouldRejectOtherText(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> Endpoint.parse(text));
    }

    @ParameterizedTest
    @CsvSource({
        "65536, 0, 0, The LID must be between 0 and 65535: 65536",
        "-1, 0, 0, The LID must be between 0 and 65535: -1",
        "0, 16777216, 0, The queue pair number must be between 0 and 16777215: 16777216",
        "0, -1, 0, The queue pair number must be between 0 and 16777215: -1",
        "0, 0, 16777216, The packet sequence number must be between 0 and 16777215: 16777216",
        "0, 0, -1, The packet sequence number must be between 0 and 16777215: -1"
    })
    void shouldRejectValuesThatAreOutOfRange(int lid, int number, int sequence, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Endpoint(lid, number, sequence, Gid.NONE))
                .withMessage(message);
    }
}
