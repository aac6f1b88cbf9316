package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AddressTextTest {

    @ParameterizedTest
    @CsvSource({
        "10.0.0.1, 10.0.0.1:7471",
        "0.0.0.0, 0.0.0.0:7471",
        "fe80::1, [fe80::1]:7471",
        "fd00:1:2:3:4:5:6:7, [fd00:1:2:3:4:5:6:7]:7471",
        "fd00:0:0:1::1, [fd00::1:0:0:0:1]:7471",
        "fd00::, [fd00::]:7471",
        "::1, [::1]:7471",
        "::, [::]:7471"
    })
    void shouldFormatAnIpAddress(String host, String expected) {
        var address = new InetSocketAddress(InetAddress.ofLiteral(host), 7471);

        assertThat(AddressText.of(address)).isEqualTo(expected);
    }

    @Test
    void shouldFormatTheNameThatTheProgramSpecified() throws Exception {
        var resolved = InetAddress.getByAddress("storage01", new byte[] {10, 0, 0, 1});

        assertThat(AddressText.of(new InetSocketAddress(resolved, 7471)))
                .isEqualTo("storage01:7471");
        assertThat(AddressText.of(InetSocketAddress.createUnresolved("storage01", 7471)))
                .isEqualTo("storage01:7471");
    }

    @Test
    void shouldKeepTheScopeOfALinkLocalAddress() {
        var address = new InetSocketAddress(InetAddress.ofLiteral("fe80::1%1"), 7471);

        assertThat(AddressText.of(address)).matches("\\[fe80::1%\\w+]:7471");
    }

    @Test
    void shouldFormatNull() {
        assertThat(AddressText.of(null)).isEqualTo("an unknown address");
    }

    @Test
    void shouldReturnThePathOfAUnixSocket() {
        assertThat(AddressText.of(UnixDomainSocketAddress.of("/run/manager")))
                .isEqualTo("/run/manager");
    }
}
