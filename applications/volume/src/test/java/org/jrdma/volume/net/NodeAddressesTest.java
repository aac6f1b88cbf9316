package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.UnknownHostException;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeAddressesTest {

    @Test
    void shouldKnowWhetherAListHasAPortOfThisHost() {
        var servers =
                NodeAddresses.servers("unknown.invalid:1,192.0.2.1:2,localhost:3+verbs:[::1]:4");

        assertThat(NodeAddresses.haveLocalPort(servers, 1)).isFalse();
        assertThat(NodeAddresses.haveLocalPort(servers, 2)).isFalse();
        assertThat(NodeAddresses.haveLocalPort(servers, 3)).isTrue();
        assertThat(NodeAddresses.haveLocalPort(servers, 4)).isFalse();
    }

    @Test
    void shouldAddTheDefaultTransportAndPort() {
        assertThat(NodeAddresses.servers("a, b:1, [::1], sockets:c:2 + verbs:10.0.0.1:3+sisci:4:5"))
                .containsExactly(
                        List.of("sockets:a:7471"),
                        List.of("sockets:b:1"),
                        List.of("sockets:[::1]:7471"),
                        List.of("sockets:c:2", "verbs:10.0.0.1:3", "sisci:4:5"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a,",
                "a:b",
                "a:65536",
                "::1",
                "sockets:a",
                "sockets:a:1:2",
                "sockets:a b:1",
                "sockets:[a:1",
                "verbs:a:65536",
                "sisci:a:1",
                "a+b:c"
            })
    void shouldRejectAServerThatIsNoAddress(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> NodeAddresses.servers(text))
                .withMessageContaining("is not an address such as");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "localhost:7471", "tcp:a:1", "sockets:a:b", "sisci:1"})
    void shouldRejectAnAddressWithoutATransportOrPlace(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> NodeAddresses.check(text))
                .withMessageStartingWith("\"%s\" is not an address such as".formatted(text));
    }

    @Test
    void shouldReportAnUnknownHost() throws FabricException {
        var address = WireAddress.parse("sockets:missing:1");

        assertThat(address.failed(new UnknownHostException("missing")))
                .hasToString("sockets:missing:1: unknown host missing");
    }
}
