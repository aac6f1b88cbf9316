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
        var hosts = SisciHosts.readIfThere(Path.of("/nowhere/dishosts.conf"));

        assertThat(hosts.nodeOf(address("127.0.0.1"), OWN)).isEqualTo(OWN);
        assertThat(hosts.nodeOf(address("::1"), OWN)).isEqualTo(OWN);
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> hosts.nodeOf(address("192.0.2.1"), OWN))
                .withMessage("/nowhere/dishosts.conf names no node for 192.0.2.1");
    }

    @Test
    void shouldRefuseATableThatIsMissing() {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> SisciHosts.read(Path.of("/nowhere/hosts")))
                .withMessage("there is no table of hosts /nowhere/hosts");
    }

    @Test
    void shouldRefuseATableThatCannotBeRead(@TempDir Path folder) {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> SisciHosts.read(folder))
                .withMessageStartingWith(folder + " cannot be read: ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "storage02 8|\"storage02\" begins no line; HOSTNAME: does",
                "hostname: storage02|\"hostname:\" begins no line; HOSTNAME: does",
                "HOSTNAME:|HOSTNAME: needs a name or an address",
                "ADAPTER: two_a0 8|ADAPTER: needs a name, a node and the number of an adapter",
                "ADAPTER: two_a0 eight 0|\"eight\" is no node",
                "ADAPTER: two_a0 -8 0|\"-8\" is no node",
                "SOCKET: storage02|SOCKET: needs a name or an address, and the name of an adapter",
                "SOCKET: storage02 two_a0|there is no adapter two_a0"
            })
    void shouldRefuseALineThatMakesNoSense(String line, String reason) {
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
