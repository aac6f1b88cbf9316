package org.jrdma.cli.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileSelfCopyTest {

    @TempDir Path folder;

    @Test
    void shouldRejectAFileAsItsOwnCopyAndLeaveItUntouched() throws IOException {
        var file = Files.writeString(folder.resolve("file"), "content");
        var copy = folder.resolve("./file");

        assertThatThrownBy(() -> new FileCopier(file, copy).copy())
                .hasMessage("%s and %s are the same file.", file, copy);
        assertThat(file).hasContent("content");
    }

    @Test
    void shouldRejectACopyOfAFolderInItself() throws IOException {
        var original = Files.createDirectory(folder.resolve("original"));
        var copy = original.resolve("copy");

        assertThatThrownBy(() -> new FileCopier(original, copy).copy())
                .hasMessage("%s cannot be copied into itself, to %s.", original, copy);
        assertThat(copy).doesNotExist();
    }

    @Test
    void shouldCopyAFolderToAFolderWhoseNameStartsInTheSameWay() throws IOException {
        var original = Files.createDirectory(folder.resolve("original"));
        var _ = Files.writeString(original.resolve("file"), "content");

        new FileCopier(original, folder.resolve("original2")).copy();

        assertThat(folder.resolve("original2/file")).hasContent("content");
    }

    @Test
    void shouldRejectACopyOverAnotherNameOfTheOriginal() throws IOException {
        var original = Files.createDirectory(folder.resolve("original"));
        var _ = Files.writeString(original.resolve("file"), "content");
        var link = Files.createSymbolicLink(folder.resolve("link"), original);

        assertThatThrownBy(() -> new FileCopier(original, link).copy())
                .hasMessage("%s and %s are the same file.", original, link);
        assertThatThrownBy(() -> new FileCopier(original, link.resolve("copy")).copy())
                .hasMessage(
                        "%s cannot be copied into itself, to %s.", original, link.resolve("copy"));
        assertThat(original).isDirectoryContaining("glob:**/file");
        assertThat(original.resolve("copy")).doesNotExist();
    }

    @Test
    void shouldRejectATargetThatCannotBeComparedWithTheOriginal() throws IOException {
        var original = Files.createDirectory(folder.resolve("original"));
        var loop = folder.resolve("loop");
        var _ = Files.createSymbolicLink(loop, loop);

        assertThatThrownBy(() -> new FileCopier(original, loop).copy())
                .isInstanceOf(FileSystemException.class)
                .isNotInstanceOf(FileAlreadyExistsException.class)
                .hasMessageContaining("symbolic link");
    }

    @Test
    void shouldNotReplaceAFileByAFolder() throws IOException {
        var original = Files.createDirectory(folder.resolve("original"));
        var file = Files.writeString(folder.resolve("file"), "content");

        assertThatThrownBy(() -> new FileCopier(original, file).copy())
                .hasMessage("%s is not a folder.", file);
        assertThat(file).hasContent("content");
    }
}
