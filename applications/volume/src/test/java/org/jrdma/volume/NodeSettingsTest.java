package org.jrdma.volume;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeSettingsTest {

    @TempDir Path folder;

    private NodeSettings read(String text, Map<String, String> options) throws IOException {
        var file = Files.writeString(folder.resolve("settings"), text);
        return NodeSettings.read(Optional.of(file), options);
    }

    @Test
    void shouldHaveDefaultsForOneHost() throws IOException {
        var settings = NodeSettings.read(Optional.empty(), Map.of());

        assertThat(settings.servers()).containsExactly(List.of("sockets:localhost:7471"));
        assertThat(settings.transports()).containsExactly(TransportKind.values());
        assertThat(settings.datagramReads()).isFalse();
        assertThat(settings.drive()).isEmpty();
        assertThat(settings.nodeName()).isNotEmpty();
        assertThat(settings.listen()).hasToString("localhost/<unresolved>:7471");
        assertThat(settings.serverOptions()).isNotNull();
        assertThat(settings.lease()).isEqualTo(Duration.ofSeconds(5));
        assertThat(settings.session()).isEqualTo(Duration.ofSeconds(5));
        assertThat(settings.retry()).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void shouldBeDocumented() throws IOException {
        try (var defaults = NodeSettings.class.getResourceAsStream("volume.properties")) {
            assertThat(Files.readString(Path.of("..", "..", "docs", "use", "volume.md")))
                    .contains("```properties\n" + new String(defaults.readAllBytes(), UTF_8));
        }
    }

    @Test
    void shouldReplaceDefaultsByTheFileAndTheFileByOptions() throws IOException {
        var settings =
                read(
                        """
                        # a comment
                        servers = node1, sockets:node2:99+verbs:10.0.0.2:98, [fd00::1]:7
                        transports = sockets,verbs
                        datagram.reads = true
                        drive = /disk
                        lease.millis = 700
                        """,
                        Map.of("drive", "/other", "name", "n"));

        assertThat(settings.servers())
                .containsExactly(
                        List.of("sockets:node1:7471"),
                        List.of("sockets:node2:99", "verbs:10.0.0.2:98"),
                        List.of("sockets:[fd00::1]:7"));
        assertThat(settings.nodeOptions().transports())
                .containsExactly(TransportKind.SOCKETS, TransportKind.VERBS);
        assertThat(settings.datagramReads()).isTrue();
        assertThat(settings.drive()).contains(new DriveName("/other"));
        assertThat(settings.nodeName()).isEqualTo("n");
        assertThat(settings.lease()).isEqualTo(Duration.ofMillis(700));
    }

    @Test
    void shouldRejectAnUnknownHostToListenAtOnlyForAServer() throws IOException {
        var settings = read("listen = unknown.invalid:1", Map.of());

        assertThat(settings.nodeOptions()).isNotNull();
        assertThatThrownBy(settings::serverOptions)
                .isInstanceOf(UnknownHostException.class)
                .hasMessage("Cannot listen at unknown.invalid: the host is unknown.");
    }

    @Test
    void shouldReportAFileThatCannotBeRead() throws IOException {
        var binary = Files.write(folder.resolve("binary"), new byte[] {(byte) 0xFF});

        assertUnreadable(folder.resolve("missing"), "The settings file %s does not exist.");
        assertUnreadable(folder, "The settings file %s is a folder.");
        assertUnreadable(binary, "The settings file %s is not text.");
    }

    private static void assertUnreadable(Path file, String message) {
        assertThatThrownBy(() -> NodeSettings.read(Optional.of(file), Map.of()))
                .isInstanceOf(IOException.class)
                .hasMessage(message, file);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "server=x | There is no setting \"server\". The settings are: datagram.reads, drive, lease.millis, listen, name, retry.millis, servers, session.millis, transports.",
                "servers= | Invalid setting \"servers\": \"\" is not an address such as node1, node1:7471 or [fd00::1]:7471",
                "servers=a,b:c | Invalid setting \"servers\": \"b:c\" is not an address such as node1, node1:7471 or [fd00::1]:7471",
                "servers=sockets:a | Invalid setting \"servers\": \"sockets:a\" is not an address such as sockets:node1:7471, verbs:10.0.0.1:7472 or sisci:4:1001",
                "listen=[::1]:65536 | Invalid setting \"listen\": \"[::1]:65536\" is not an address such as node1, node1:7471 or [fd00::1]:7471",
                "transports=tcp | Invalid setting \"transports\": there is no transport \"tcp\". The transports are: verbs, sisci, sockets",
                "transports=verbs,verbs | Invalid setting \"transports\": verbs occurs twice",
                "datagram.reads=yes | Invalid setting \"datagram.reads\": \"yes\" is neither true nor false",
                "lease.millis=5s | Invalid setting \"lease.millis\": \"5s\" is not a whole number from 100 to 86400000",
                "drive=a\\ndrive=b | The setting \"drive\" occurs twice.",
                "retry.millis=99 | Invalid setting \"retry.millis\": \"99\" is not a whole number from 100 to 86400000"
            })
    void shouldRejectAnInvalidSetting(String file, String message) {
        assertThatThrownBy(() -> read(file.replace("\\n", "\n"), Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }
}
