package org.jrdma.volume.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.jrdma.volume.net.TransportKind.SISCI;
import static org.jrdma.volume.net.TransportKind.SOCKETS;
import static org.jrdma.volume.net.TransportKind.VERBS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jrdma.volume.drive.DriveName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MountOptionsTest {

    @TempDir Path folder;

    private MountOptions parse(String options) throws IOException {
        return MountOptions.parse(List.of((options + " " + folder).strip().split(" ")));
    }

    @Test
    void shouldHaveDefaults() throws IOException {
        assertThat(parse(""))
                .isEqualTo(
                        new MountOptions(
                                folder,
                                List.of(List.of("sockets:localhost:7471")),
                                java.util.Optional.empty(),
                                List.of(VERBS, SISCI, SOCKETS),
                                false,
                                Duration.ofSeconds(30),
                                false));
    }

    @Test
    void shouldReplaceSettingsOfTheFileByOptions() throws IOException {
        var file = folder.resolve("settings");
        Files.writeString(
                file,
                """
                servers = node1, node2:1 + verbs:10.0.0.1:2, [fd00::1]
                transports = sockets, verbs
                datagram.reads = true
                drive = /drive
                lease.millis = 1000
                retry.millis = 5000
                """);

        var read = parse("--config=" + file);
        assertThat(read.servers())
                .containsExactly(
                        List.of("sockets:node1:7471"),
                        List.of("sockets:node2:1", "verbs:10.0.0.1:2"),
                        List.of("sockets:[fd00::1]:7471"));
        assertThat(read.transports()).containsExactly(SOCKETS, VERBS);
        assertThat(read.datagramReads()).isTrue();
        assertThat(read.drive()).contains(new DriveName("/drive"));
        assertThat(read.retry()).isEqualTo(Duration.ofSeconds(5));

        var replaced = parse("--allow-other --drive= --servers=a --config=" + file);
        assertThat(replaced.servers()).containsExactly(List.of("sockets:a:7471"));
        assertThat(replaced.drive()).isEmpty();
        assertThat(replaced.isForAllUsers()).isTrue();
    }

    private static void assertRejected(Path mountPoint, String message) {
        assertThatIOException()
                .isThrownBy(() -> MountOptions.parse(List.of(mountPoint.toString())).emptyFolder())
                .withMessage(message, mountPoint);
    }

    @Test
    void shouldRejectAMountPointThatIsNotAnEmptyFolder() throws IOException {
        assertThat(parse("").emptyFolder()).isEqualTo(folder.toRealPath());

        var file = Files.writeString(folder.resolve("file"), "content");
        assertRejected(file, "%s is not a folder.");
        assertRejected(folder, "The folder %s is not empty.");
        assertRejected(folder.resolve("missing"), "The folder %s does not exist.");
        assertThat(file).hasContent("content");
    }

    @Test
    void shouldRejectADatagramSettingThatIsNeitherTrueNorFalse() throws IOException {
        var file = folder.resolve("settings");
        Files.writeString(file, "datagram.reads = yes\n");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("--config=" + file))
                .withMessage(
                        "Invalid setting \"datagram.reads\": \"yes\" is neither true nor false");
    }

    @Test
    void shouldAcceptTheValueOfAnOptionAsTheNextArgument() throws IOException {
        var options = parse("--servers a --allow-other --transports sockets");

        assertThat(options).isEqualTo(parse("--servers=a --allow-other --transports=sockets"));
        assertThat(options.servers()).containsExactly(List.of("sockets:a:7471"));
    }

    @Test
    void shouldRejectAnOptionWithoutAValue() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MountOptions.parse(List.of(folder.toString(), "--servers")))
                .withMessage("The option --servers needs a value");
    }

    @Test
    void shouldReportAMissingFileOfSettings() {
        var file = folder.resolve("missing");

        assertThatIOException()
                .isThrownBy(() -> parse("--config=" + file))
                .withMessage("The file of settings %s does not exist.", file);
    }

    @Test
    void shouldRejectARetryTimeThatIsNotAWholeNumber() throws IOException {
        var file = Files.writeString(folder.resolve("settings"), "retry.millis = 1s");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("--config=" + file))
                .withMessage("Invalid setting \"retry.millis\": \"1s\" is not a whole number");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    --unknown=1      | Invalid option "--unknown=1"
                    -x               | Invalid option "-x"
                    --allow-other=no | Invalid option "--allow-other=no"
                    --transports=tcp | There is no transport "tcp". The transports are: verbs, sisci, sockets
                    --drive          | Give one folder, not 0
                    other            | Give one folder, not 2
                    """)
    void shouldRejectInvalidArguments(String argument, String message) {
        assertThatIllegalArgumentException().isThrownBy(() -> parse(argument)).withMessage(message);
    }

    @Test
    void shouldRejectAnInvalidServer() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("--servers=a,b:c"))
                .withMessageStartingWith("\"b:c\" is not an address");
    }
}
