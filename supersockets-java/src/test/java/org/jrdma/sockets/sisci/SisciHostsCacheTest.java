package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SisciHostsCacheTest {

    private static final int OWN = 12;

    private final List<String> resolvedNames = new ArrayList<>();

    /** Resolves names in place of the system. Only the name "one" has an address. */
    private InetAddress[] addressesOf(String name) throws UnknownHostException {
        resolvedNames.add(name);
        if (!name.equals("one")) {
            throw new UnknownHostException(name);
        }
        return new InetAddress[] {InetAddress.ofLiteral("192.0.2.1")};
    }

    @Test
    void shouldNotResolveTheNamesOfTheTableAtEveryConnect(@TempDir Path folder) throws Exception {
        var table =
                Files.writeString(
                        folder.resolve("hosts"),
                        "HOSTNAME: one\nADAPTER: a 4 0\nHOSTNAME: gone\nADAPTER: b 8 0\n");
        var hosts = SisciHosts.read(table, this::addressesOf);

        for (var i = 0; i < 3; i++) {
            assertThat(hosts.nodeOf(InetAddress.ofLiteral("192.0.2.1"), OWN)).isEqualTo(4);
            assertThat(hosts.nodeOf(InetAddress.ofLiteral("127.0.0.1"), OWN)).isEqualTo(OWN);
        }

        assertThat(resolvedNames).containsExactlyInAnyOrder("one", "gone");
    }
}
