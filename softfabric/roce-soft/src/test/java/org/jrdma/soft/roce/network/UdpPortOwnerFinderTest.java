package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.DatagramSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.regex.Pattern;
import org.jrdma.soft.roce.engine.RoceGid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the description of the process that uses the RoCE UDP port, which is derived from the
 * kernel's table of sockets.
 */
class UdpPortOwnerFinderTest {

    private static final Pattern SPACES = Pattern.compile("\\s+");
    private static final RoceGid LOOPBACK = RoceGid.ipv4(0x7f000001);

    @TempDir private Path folder;

    private String describe(String local, long inode) throws IOException {
        var table = folder.resolve("udp");
        Files.writeString(
                table,
                """
                  sl  local_address rem_address   st
                   7: %s 00000000:0000 07 0:0 00:0 0 0 0 %d 2 0 0
                """
                        .formatted(local, inode));
        return UdpPortOwnerFinder.describe(LOOPBACK, table);
    }

    @Test
    void shouldSuspectTheKernelIfAWildcardSocketHasNoProcess() throws IOException {
        assertThat(describe("00000000:12B7", 1)).contains("rmmod rdma_rxe", "network namespace");
    }

    @Test
    void shouldNotAdviseAnotherAddressIfAProcessHoldsAllAddresses() throws Exception {
        try (var socket = new DatagramSocket(0)) {
            var inode = inodeOf(socket.getLocalPort());

            assertThat(describe("00000000:12B7", inode))
                    .isEqualTo("The port is held at all addresses by this process: end it first.");
            assertThat(describe("0100007F:12B7", inode))
                    .isEqualTo("The port is held by this process: use another address.");
        }
    }

    private static long inodeOf(int port) throws IOException {
        for (var name : new String[] {"/proc/net/udp", "/proc/net/udp6"}) {
            for (var line : Files.readAllLines(Path.of(name))) {
                var columns = SPACES.splitAsStream(line.strip()).toList();
                if (columns.get(1)
                        .endsWith(":" + HexFormat.of().withUpperCase().toHexDigits((short) port))) {
                    return Long.parseLong(columns.get(9));
                }
            }
        }
        throw new AssertionError("no socket at port " + port);
    }

    @ParameterizedTest
    @CsvSource({
        "0100007F:12B7, this user may not inspect", // the process is not visible
        "0200007F:12B7, this user may not inspect", // the socket has another address
        "00000000:12B8, this user may not inspect", // the socket has another port
    })
    void shouldReportAProcessOfAnotherUserIfNoProcessIsFound(String local, String text)
            throws IOException {
        assertThat(describe(local, 1)).contains(text, "use another address");
    }
}
