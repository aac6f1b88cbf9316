package org.jrdma.volume.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import org.jrdma.volume.client.LocalCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Uses one volume as two file systems, as two URIs with different lists of servers do. */
@Timeout(60)
class SameVolumeTest {

    private final LocalCluster cluster = new LocalCluster(8192, 1);
    private final LocalCluster otherCluster = new LocalCluster(8192, 1);
    private final VolumeFileSystem first = open(cluster, "first");
    private final VolumeFileSystem second = open(cluster, "second");
    private final VolumeFileSystem otherVolume = open(otherCluster, "other");
    private final Path file = Files.writeString(first.getPath("/file"), "content");
    private final Path fileInSecond = second.getPath("/file");

    SameVolumeTest() throws IOException {}

    private static VolumeFileSystem open(LocalCluster cluster, String name) throws IOException {
        return new VolumeFileSystem(name, cluster.newClient(name), () -> {});
    }

    @AfterEach
    void stop() {
        first.close();
        second.close();
        otherVolume.close();
        cluster.close();
        otherCluster.close();
    }

    @Test
    void shouldKnowThatTwoFileSystemsContainTheSameFile() throws IOException {
        var fileInOther = Files.writeString(otherVolume.getPath("/file"), "content");
        var neighbour = Files.writeString(first.getPath("/neighbour"), "content");

        assertThat(Files.isSameFile(file, fileInSecond)).isTrue();
        assertThat(Files.isSameFile(file, first.getPath("folder/../file"))).isTrue();
        assertThat(Files.isSameFile(file, neighbour)).isFalse();
        assertThat(Files.isSameFile(file, fileInOther)).isFalse();
        assertThat(Files.getAttribute(file, "fileKey"))
                .isEqualTo(Files.getAttribute(fileInSecond, "fileKey"))
                .isNotEqualTo(Files.getAttribute(fileInOther, "fileKey"));
        assertThatThrownBy(() -> Files.isSameFile(file, second.getPath("/missing")))
                .isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void shouldKeepAFileThatIsCopiedOrMovedToItself() throws IOException {
        assertThat(Files.copy(file, fileInSecond)).isEqualTo(fileInSecond);
        assertThat(file).hasContent("content");
        Files.copy(file, fileInSecond, StandardCopyOption.REPLACE_EXISTING);
        assertThat(file).hasContent("content");
        Files.move(file, fileInSecond);
        assertThat(file).hasContent("content");
        Files.move(file, fileInSecond, StandardCopyOption.REPLACE_EXISTING);
        assertThat(file).hasContent("content");
    }

    @Test
    void shouldMoveAFolderBetweenFileSystemsOfOneVolume() throws IOException {
        var folder = Files.createDirectory(first.getPath("/folder"));
        Files.move(file, folder.resolve("file"));

        Files.move(folder, second.getPath("/moved"), StandardCopyOption.ATOMIC_MOVE);

        assertThat(first.getPath("/moved/file")).hasContent("content");
        assertThat(folder).doesNotExist();
    }

    @Test
    void shouldMoveAFileToAnotherVolumeByACopy() throws IOException {
        var moved = otherVolume.getPath("/moved");

        assertThatThrownBy(() -> Files.move(file, moved, StandardCopyOption.ATOMIC_MOVE))
                .isInstanceOf(AtomicMoveNotSupportedException.class);
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
        Files.move(file, moved);
        assertThat(moved).hasContent("content");
        assertThat(Files.getLastModifiedTime(moved)).isEqualTo(FileTime.fromMillis(1_000_000));
        assertThat(file).doesNotExist();
    }

    @Test
    void shouldNotMoveAFolderWithContentToAnotherVolume() throws IOException {
        var folder = Files.createDirectory(first.getPath("/folder"));
        Files.move(file, folder.resolve("file"));
        var target = Files.writeString(otherVolume.getPath("/target"), "target");

        assertThatThrownBy(() -> Files.move(folder, target, StandardCopyOption.REPLACE_EXISTING))
                .isInstanceOf(DirectoryNotEmptyException.class)
                .hasMessage("/folder");
        assertThat(target).hasContent("target");
        assertThat(folder.resolve("file")).hasContent("content");

        Files.delete(folder.resolve("file"));
        Files.move(folder, target, StandardCopyOption.REPLACE_EXISTING);
        assertThat(target).isEmptyDirectory();
        assertThat(folder).doesNotExist();
    }

    @Test
    void shouldKeepTheSourceAndDeleteTheIncompleteTargetIfAMoveFails() throws IOException {
        var content = new byte[20_000_000];
        Files.write(file, content);
        Files.write(otherVolume.getPath("/large"), content);
        var target = otherVolume.getPath("/target");

        assertThatThrownBy(() -> Files.move(file, target)).hasMessageContaining("no space");
        assertThat(target).doesNotExist();
        assertThat(file).hasSize(content.length);
    }
}
