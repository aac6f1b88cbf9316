package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import org.jrdma.volume.nio.VolumeFileSystem;
import org.jrdma.volume.protocol.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SameFileFailureTest {

    @Test
    void shouldKeepAFileThatCannotBeComparedWithItsCopy() throws IOException {
        try (var cluster = new LocalCluster(8192, 1)) {
            var connector = new RecordingConnector(cluster.connector());
            var client = cluster.newClient("failing", Optional.of(cluster.drive()), connector);
            try (var volume =
                            new VolumeFileSystem("volume", cluster.newClient("client"), () -> {});
                    var failing = new VolumeFileSystem("failing", client, () -> {})) {
                var file = Files.writeString(volume.getPath("/file"), "content");
                connector.refuse(Operation.LOOKUP);

                assertThatThrownBy(() ->
                                Files.copy(
                                        file,
                                        failing.getPath("/file"),
                                        StandardCopyOption.REPLACE_EXISTING))
                        .hasMessageContaining("LOOKUP fails on purpose");
                assertThat(file).hasContent("content");
            }
        }
    }
}
