package org.jrdma.volume.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jrdma.volume.client.LocalCluster;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class VolumeUriTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "localhost:99999/ | \"localhost:99999\" is not an address",
                "localhost:abc/ | \"localhost:abc\" is not an address",
                "localhost,,other/ | \"\" is not an address",
                "localhost/folder | The URI of a volume has no path, query or fragment",
                "localhost/?query | The URI of a volume has no path, query or fragment",
                "localhost/#fragment | The URI of a volume has no path, query or fragment",
            })
    void shouldRejectAnInvalidUri(String text, String message) {
        var uri = URI.create("jrdma-volume://" + text);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> FileSystems.newFileSystem(uri, Map.of()))
                .withMessageStartingWith(message);
    }

    @Test
    void shouldRejectAnUnknownProperty() {
        var uri = URI.create("JRDMA-VOLUME://localhost/");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> FileSystems.newFileSystem(uri, Map.of("drives", "/drive")))
                .withMessage(
                        "There is no property \"drives\". The only property of a volume is \"drive\".");
    }

    @Test
    void shouldFindAnOpenVolumeAndDescribeIt() throws IOException {
        try (var cluster = new LocalCluster(8192, 1);
                var volume = new VolumeFileSystem("open", cluster.newClient("client"), () -> {})) {
            assertThat(volume).hasToString("jrdma-volume://open");
            assertThat(FileSystems.getFileSystem(URI.create("JRDMA-Volume://open/")))
                    .isSameAs(volume);
            var folder = Files.createDirectory(Path.of(URI.create("jrdma-volume://open/folder")));

            assertThatThrownBy(() -> Files.readString(folder))
                    .isExactlyInstanceOf(FileSystemException.class)
                    .hasMessage("/folder: is a folder");
        }
    }
}
