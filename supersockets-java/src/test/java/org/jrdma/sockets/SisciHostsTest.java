package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.InetAddress;
import java.nio.file.Path;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.sisci.SisciHosts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SisciHostsTest {

    private static final int OWN = 12;

    private static InetAddress address(String text) {
        return InetAddress.ofLiteral(text);
    }

    @Test
    void shouldFindNodesByNameAndAddress() throws Exception {
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
    void shouldMapTheAddressesOfThisMachineToItsNode() throws Exception {
        var hosts = SisciHosts.readIfThere(Path.of("/nowhere/dishosts.conf"));

        assertThat(hosts.nodeOf(address("127.0.0.1"), OWN)).isEqualTo(OWN);
        assertThat(hosts.nodeOf(address("::1"), OWN)).isEqualTo(OWN);
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> hosts.nodeOf(address("192.0.2.1"), OWN))
                .withMessage("/nowhere/dishosts.conf has no node for 192.0.2.1");
    }

    @Test
    void shouldRejectAMissingHostsFile() {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> SisciHosts.read(Path.of("/nowhere/hosts")))
                .withMessage("there is no hosts file /nowhere/hosts");
    }

    @Test
    void shouldRejectAnUnreadableHostsFile(@TempDir Path folder) {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> SisciHosts.read(folder))
                .withMessageStartingWith(folder + " cannot be read: ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "storage02 8|unexpected \"storage02\"; a line starts with a keyword such as HOSTNAME:",
                "hostname: storage02|unexpected \"hostname:\"; a line starts with a keyword such as HOSTNAME:",
                "HOSTNAME:|HOSTNAME: needs a name or an address",
                "ADAPTER: two_a0 8|ADAPTER: needs the name of an adapter, the id of a node and the number of the adapter",
                "ADAPTER: two_a0 eight 0|\"eight\" is not a node id",
                "ADAPTER: two_a0 -8 0|\"-8\" is not a node id",
                "SOCKET: storage02|SOCKET: needs a name or an address, and the name of an adapter",
                "SOCKET: storage02 two_a0|unknown adapter two_a0"
            })
    void shouldRejectAMalformedLine(String line, String reason) {
        var table =
                Implementation.familyFile(
                        """
                        HOSTNAME: storage01
                        ADAPTER:  one_a0 4 0

                        OTHER:    of others
                        %s
                        """
                                .formatted(line));

        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> SisciHosts.read(table))
                .withMessage(table + ":5: " + reason);
    }
}
