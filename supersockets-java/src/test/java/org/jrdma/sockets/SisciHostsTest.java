package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.InetAddress;
import java.nio.file.Path;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.sisci.SisciHosts;
import org.junit.jupiter.api.Test;

class SisciHostsTest {

    private static final int OWN = 12;

    private static InetAddress address(String text) {
        return InetAddress.ofLiteral(text);
    }

    @Test
    void shouldFindNodesByTheirNamesAndAddresses() throws Exception {
        var hosts =
                SisciHosts.read(
                        Implementation.familyFile(
                                """
                                HOSTNAME: 192.0.2.1
                                ADAPTER:  one_a0 4 0 4   # its first
                                ADAPTER:  one_a1 8 1 4
                                HOSTNAME: localhost
                                ADAPTER:  two_a0 16 0
                                SOCKET:   198.51.100.7 one_a1
                                SOCKET:   203.0.113.9 two_a0
                                """));

        assertThat(hosts.nodeOf(address("192.0.2.1"), OWN)).isEqualTo(4);
        assertThat(hosts.nodeOf(address("198.51.100.7"), OWN)).isEqualTo(8);
        assertThat(hosts.nodeOf(address("203.0.113.9"), OWN)).isEqualTo(16);
        assertThat(hosts.nodeOf(address("127.0.0.1"), OWN)).isEqualTo(16);
    }

    @Test
    void shouldTakeTheAddressesOfThisMachineForItsOwnNodes() throws Exception {
        var hosts = SisciHosts.read(Path.of("/nowhere/dishosts.conf"));

        assertThat(hosts.nodeOf(address("127.0.0.1"), OWN)).isEqualTo(OWN);
        assertThat(hosts.nodeOf(address("::1"), OWN)).isEqualTo(OWN);
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> hosts.nodeOf(address("192.0.2.1"), OWN))
                .withMessage("/nowhere/dishosts.conf names no node for 192.0.2.1");
    }
}
