package org.jrdma.volume.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jrdma.volume.client.LocalCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares the exceptions of moves with those that the default file system throws. */
@Timeout(60)
class VolumeMoveTest {

    private final LocalCluster cluster = new LocalCluster(8192, 1);
    private final VolumeFileSystem fileSystem =
            new VolumeFileSystem("moves", cluster.newClient("client"), () -> {});
    private final Path source = Files.writeString(fileSystem.getPath("/source"), "source");
    private final Path folder = Files.createDirectory(fileSystem.getPath("/folder"));

    VolumeMoveTest() throws IOException {}

    @AfterEach
    void stop() {
        fileSystem.close();
        cluster.close();
    }

    private static void assertFails(
            Class<? extends FileSystemException> type,
            String file,
            String otherFile,
            Path from,
            Path to,
            CopyOption... options) {
        var failure = catchThrowableOfType(type, () -> Files.move(from, to, options));
        assertThat(failure).isExactlyInstanceOf(type);
        assertThat(failure.getFile()).isEqualTo(file);
        assertThat(failure.getOtherFile()).isEqualTo(otherFile);
    }

    @Test
    void shouldReportTheTargetThatExists() throws IOException {
        var target = Files.writeString(fileSystem.getPath("/target"), "target");

        assertFails(FileAlreadyExistsException.class, "/target", null, source, target);
        assertFails(FileAlreadyExistsException.class, "/folder", null, source, folder);
        assertThat(Files.readString(target)).isEqualTo("target");
        assertThat(Files.readString(source)).isEqualTo("source");
    }

    @ParameterizedTest
    @EnumSource(names = {"ATOMIC_MOVE", "REPLACE_EXISTING"})
    void shouldReportBothPathsIfTheFolderOfTheTargetIsMissing(StandardCopyOption option) {
        var target = fileSystem.getPath("/missing/target");

        assertFails(
                NoSuchFileException.class, "/source", "/missing/target", source, target, option);
        assertFails(NoSuchFileException.class, "/source", "/missing/target", source, target);
    }

    @ParameterizedTest
    @EnumSource(names = {"ATOMIC_MOVE", "REPLACE_EXISTING"})
    void shouldReportTheSourceOnlyIfItIsMissing(StandardCopyOption option) {
        var missing = fileSystem.getPath("/no");

        assertFails(NoSuchFileException.class, "/no", null, missing, source, option);
        assertFails(NoSuchFileException.class, "/no", null, missing, source);
        assertFails(
                NoSuchFileException.class,
                "/no",
                null,
                missing,
                fileSystem.getPath("/missing/target"),
                option);
    }

    @Test
    void shouldReportAFolderThatCannotBeReplaced() throws IOException {
        Files.createFile(folder.resolve("file"));
        var otherFolder = Files.createDirectory(fileSystem.getPath("/other"));

        assertFails(
                DirectoryNotEmptyException.class,
                "/folder",
                null,
                otherFolder,
                folder,
                StandardCopyOption.REPLACE_EXISTING);
        assertFails(
                FileSystemException.class,
                "/source",
                "/folder",
                source,
                folder,
                StandardCopyOption.ATOMIC_MOVE);
    }

    @Test
    void shouldRejectUnsupportedOptions() throws IOException {
        var target = fileSystem.getPath("/target");

        assertThatThrownBy(() -> Files.move(source, target, StandardCopyOption.COPY_ATTRIBUTES))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> Files.copy(source, target, StandardCopyOption.ATOMIC_MOVE))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(target).doesNotExist();

        Files.copy(source, target, LinkOption.NOFOLLOW_LINKS);
        assertThat(target).hasContent("source");
    }
}
