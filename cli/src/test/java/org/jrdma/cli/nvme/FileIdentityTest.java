package org.jrdma.cli.nvme;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileIdentityTest {

    @TempDir private Path folder;

    @Test
    void shouldIdentifyAFileByAnyOfItsPaths() throws Exception {
        var file = Files.createFile(folder.resolve("file"));
        var link = Files.createSymbolicLink(folder.resolve("link"), file);
        var id = FileUuid.of(file);
        Files.writeString(file, "changed");
        assertThat(FileUuid.of(file)).isEqualTo(id);
        assertThat(FileUuid.of(link)).isEqualTo(id);
    }

    @Test
    void shouldDistinguishFiles() throws Exception {
        var file = Files.createFile(folder.resolve("file"));
        var id = FileUuid.of(file);
        assertThat(FileUuid.of(Files.createFile(folder.resolve("other")))).isNotEqualTo(id);
        assertThat(FileUuid.of(Files.createLink(folder.resolve("hard link"), file)))
                .isNotEqualTo(id);
        var next = Files.createFile(folder.resolve("next"));
        Files.delete(file);
        assertThat(FileUuid.of(Files.move(next, file))).as("replaced").isNotEqualTo(id);
    }
}
