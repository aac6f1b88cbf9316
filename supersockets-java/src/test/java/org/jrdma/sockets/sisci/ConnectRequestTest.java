package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Test;

class ConnectRequestTest {

    private static final ConnectRequest REQUEST =
            new ConnectRequest(
                    4,
                    0x20001,
                    7,
                    -4_026_531_840L,
                    new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 50_000),
                    new InetSocketAddress(InetAddress.ofLiteral("2001:db8::1"), 80));

    @Test
    void shouldDecodeWhatItHasEncoded() throws Exception {
        assertThat(ConnectRequest.decode(REQUEST.encode())).isEqualTo(REQUEST);
    }

    @Test
    void shouldRejectAMalformedRequest() {
        var bytes = REQUEST.encode();
        for (var length = 0; length < bytes.length; length++) {
            var truncated = Arrays.copyOf(bytes, length);
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> ConnectRequest.decode(truncated));
        }
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> ConnectRequest.decode(Arrays.copyOf(bytes, bytes.length + 1)))
                .withMessage("A connect request has extra bytes: 1");
        bytes[3]++;
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> ConnectRequest.decode(bytes))
                .withMessage("Unknown version of a connect request");
        bytes[3]--;
        bytes[24] = 5;
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> ConnectRequest.decode(bytes));
    }
}
