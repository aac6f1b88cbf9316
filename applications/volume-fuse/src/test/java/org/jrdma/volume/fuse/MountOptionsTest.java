package org.jrdma.volume.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jrdma.volume.NodeSettings;
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
    void shouldHaveTheDefaultsOfAllCommands() throws IOException {
        assertThat(parse(""))
                .isEqualTo(
                        new MountOptions(
                                folder, NodeSettings.read(Optional.empty(), Map.of()), false));
    }

    @Test
    void shouldReplaceSettingsOfTheFileByOptions() throws IOException {
        var file = folder.resolve("settings");
        Files.writeString(file, "servers = node1\ndrive = /drive\nretry.millis = 5000\n");

        var read = parse("--config=" + file).settings();
        assertThat(read.servers()).containsExactly(List.of("sockets:node1:7471"));
        assertThat(read.drive()).contains(new DriveName("/drive"));

        var options = parse("--allow-other --drive= --servers=a --config=" + file);
        assertThat(options.isForAllUsers()).isTrue();
        var replaced = options.settings();
        assertThat(replaced.servers()).containsExactly(List.of("sockets:a:7471"));
        assertThat(replaced.drive()).isEmpty();
        assertThat(replaced.retry()).isEqualTo(Duration.ofSeconds(5));
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
    void shouldAcceptTheValueOfAnOptionAsTheNextArgument() throws IOException {
        var options = parse("--servers a --allow-other --transports sockets");

        assertThat(options).isEqualTo(parse("--servers=a --allow-other --transports=sockets"));
        assertThat(options.settings().servers()).containsExactly(List.of("sockets:a:7471"));
    }

    @Test
    void shouldRejectAnOptionWithoutAValue() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MountOptions.parse(List.of(folder.toString(), "--servers")))
                .withMessage("The option --servers needs a value")
                .satisfies(e ->
                        assertThat(MountOptions.usageError(e))
                                .isEqualTo(
                                        "jrdma volume mount: The option --servers needs a value. See --help."));
    }

    @Test
    void shouldReportAMissingFileOfSettings() {
        var file = folder.resolve("missing");

        assertThatIOException()
                .isThrownBy(() -> parse("--config=" + file))
                .withMessage("The settings file %s does not exist.", file);
    }

    @Test
    void shouldRejectAnInvalidSettingOfTheFile() throws IOException {
        var file = Files.writeString(folder.resolve("settings"), "server = a");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> parse("--config=" + file))
                .withMessageStartingWith("There is no setting \"server\"")
                .satisfies(e ->
                        assertThat(MountOptions.usageError(e))
                                .endsWith(", transports. See --help."));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    --unknown=1      | Invalid option "--unknown=1"
                    -x               | Invalid option "-x"
                    --allow-other=no | Invalid option "--allow-other=no"
                    --transports=tcp | Invalid setting "transports": there is no transport "tcp". The transports are: verbs, sisci, sockets
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
                .withMessageStartingWith("Invalid setting \"servers\": \"b:c\" is not an address");
    }
}
