package org.jrdma.cli.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileSelfCopyTest {

    @TempDir Path folder;

    @Test
    void shouldRejectAFileAsItsOwnCopyAndLeaveItUntouched() throws IOException {
        var file = Files.writeString(folder.resolve("file"), "content");

        assertThatThrownBy(() -> new FileCopier(file, folder.resolve("./file")).copy())
                .hasMessageContaining("is the original");
        assertThat(file).hasContent("content");
    }

    @Test
    void shouldRejectACopyOfAFolderInItself() throws IOException {
        var original = Files.createDirectory(folder.resolve("original"));
        var copy = original.resolve("copy");

        assertThatThrownBy(() -> new FileCopier(original, copy).copy())
                .hasMessageContaining("a file in it");
        assertThat(copy).doesNotExist();
    }

    @Test
    void shouldCopyAFolderToAFolderWhoseNameStartsInTheSameWay() throws IOException {
        var original = Files.createDirectory(folder.resolve("original"));
        var _ = Files.writeString(original.resolve("file"), "content");

        new FileCopier(original, folder.resolve("original2")).copy();

        assertThat(folder.resolve("original2/file")).hasContent("content");
    }
}
