package org.jrdma.volume.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.Volume;
import org.jrdma.volume.VolumeOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class VolumeFileSystemTest {

    private static final NodeOptions NODE =
            NodeOptions.of(TransportKind.SOCKETS)
                    .socketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final FileDrive drive;
    private final VolumeServer server;
    private final Volume volume;

    VolumeFileSystemTest(@TempDir Path folder) throws IOException {
        drive = FileDrive.create(folder.resolve("drive"), 8192);
        VolumeServer.create(drive);
        server =
                VolumeServer.start(
                        drive,
                        ServerOptions.named("server")
                                .node(NODE)
                                .lease(Duration.ofSeconds(2))
                                .sessionTimeout(Duration.ofSeconds(2)));
        volume = Volume.open(options().drive(drive));
    }

    private VolumeOptions options() {
        return VolumeOptions.of("test-" + NUMBER.incrementAndGet(), List.of(server.addresses()))
                .node(NODE);
    }

    @AfterEach
    void shouldLeaveAConsistentVolume() throws IOException {
        volume.close();
        server.close();
        assertThat(VolumeServer.check(drive)).isEmpty();
        drive.close();
    }

    private Path path(String text) {
        return volume.path(text);
    }

    @Test
    void shouldStoreFilesThroughTheFilesClass() throws IOException {
        var folder = Files.createDirectories(path("/a/b/c"));
        var file = folder.resolve("file.txt");
        Files.writeString(file, "Hello");
        Files.writeString(file, ", volume", StandardOpenOption.APPEND);

        assertThat(Files.readString(file)).isEqualTo("Hello, volume");
        assertThat(Files.size(file)).isEqualTo(13);
        assertThat(Files.isRegularFile(file)).isTrue();
        assertThat(Files.isDirectory(folder)).isTrue();
        try (var files = Files.walk(path("/"))) {
            assertThat(files.map(Path::toString))
                    .containsExactly("/", "/a", "/a/b", "/a/b/c", "/a/b/c/file.txt");
        }
        try (var matching = Files.newDirectoryStream(folder, "*.txt")) {
            assertThat(matching).containsExactly(file);
        }
        Files.writeString(file, "new");
        assertThat(Files.readString(file)).isEqualTo("new");
    }

    @Test
    void shouldCopyMoveAndDelete() throws IOException {
        var source = Files.writeString(path("/source"), "content");
        var target = path("/target");
        Files.setLastModifiedTime(source, FileTime.fromMillis(1_000_000));
        Files.copy(source, target, StandardCopyOption.COPY_ATTRIBUTES);
        assertThat(Files.readString(target)).isEqualTo("content");
        assertThat(Files.getLastModifiedTime(target)).isEqualTo(FileTime.fromMillis(1_000_000));
        Files.writeString(source, "other");

        assertThatThrownBy(() -> Files.copy(source, target))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThatThrownBy(() -> Files.move(source, target))
                .isInstanceOf(FileAlreadyExistsException.class);
        Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
        assertThat(Files.readString(target)).isEqualTo("other");
        assertThat(Files.exists(source)).isFalse();
        Files.delete(target);
        assertThatThrownBy(() -> Files.delete(target)).isInstanceOf(NoSuchFileException.class);
    }

    @Test
    void shouldThrowTheExceptionsThatTheInterfacesSpecify() throws IOException {
        var folder = Files.createDirectory(path("/folder"));
        var file = Files.writeString(folder.resolve("file"), "x");

        assertThatThrownBy(() -> Files.readString(path("/missing")))
                .isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> Files.delete(folder))
                .isInstanceOf(DirectoryNotEmptyException.class);
        assertThatThrownBy(() -> Files.createDirectory(folder))
                .isInstanceOf(FileAlreadyExistsException.class);
        assertThatThrownBy(
                        () -> {
                            try (var entries = Files.newDirectoryStream(file)) {
                                assertThat(entries).isNull();
                            }
                        })
                .isInstanceOf(NotDirectoryException.class);
        assertThatThrownBy(() -> Files.writeString(file, "y", StandardOpenOption.CREATE_NEW))
                .isInstanceOf(FileAlreadyExistsException.class);
    }

    @Test
    void shouldReadAndWriteAtAnyPositionOfAChannel() throws IOException {
        var seed = new Random().nextLong();
        var random = new Random(seed);
        var expected = new byte[200_000];
        try (var channel =
                FileChannel.open(
                        path("/file"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE)) {
            var size = 0;
            for (var i = 0; i < 200; i++) {
                var position = random.nextInt(150_000);
                var data = new byte[1 + random.nextInt(20_000)];
                random.nextBytes(data);
                var buffer =
                        random.nextBoolean()
                                ? ByteBuffer.wrap(data)
                                : ByteBuffer.allocateDirect(data.length).put(data).flip();
                assertThat(channel.position(position).write(buffer)).isEqualTo(data.length);
                assertThat(buffer.hasRemaining()).isFalse();
                System.arraycopy(data, 0, expected, position, data.length);
                size = Math.max(size, position + data.length);
                assertThat(channel.position()).isEqualTo(position + data.length);
                assertThat(channel.size()).isEqualTo(size);
            }
            var all = ByteBuffer.allocate(size);
            while (all.hasRemaining()) {
                assertThat(channel.read(all, all.position())).isPositive();
            }
            assertThat(java.util.Arrays.mismatch(all.array(), 0, size, expected, 0, size))
                    .as("seed %d", seed)
                    .isEqualTo(-1);
            assertThat(channel.read(ByteBuffer.allocate(1), size)).isEqualTo(-1);
        }
    }

    @Test
    void shouldExcludeLocksOfOtherChannelsAndClients() throws IOException {
        var file = Files.writeString(path("/file"), "x");
        try (var other = Volume.open(options().drive(drive));
                var channel = FileChannel.open(file, StandardOpenOption.WRITE);
                var otherChannel =
                        FileChannel.open(other.path("/file"), StandardOpenOption.WRITE)) {
            try (var lock = channel.lock()) {
                assertThat(lock.isValid()).isTrue();
                assertThat(otherChannel.tryLock()).isNull();
                assertThatThrownBy(channel::tryLock)
                        .isInstanceOf(OverlappingFileLockException.class);
            }
            try (var lock = otherChannel.tryLock()) {
                assertThat(lock).isNotNull();
            }
        }
    }

    @Test
    void shouldOpenAVolumeByAUriWithoutADrive() throws IOException {
        var port = server.addresses().getFirst().replace("sockets:", "");
        var uri = URI.create("jrdma-volume://%s/".formatted(port));
        Files.writeString(path("/direct"), "written directly");
        try (var fileSystem = FileSystems.newFileSystem(uri, Map.of())) {
            var file = fileSystem.getPath("/redirected");
            assertThat(Files.readString(fileSystem.getPath("/direct")))
                    .isEqualTo("written directly");
            Files.writeString(file, "written by a server");
            assertThat(Files.readString(path("/redirected"))).isEqualTo("written by a server");
            assertThat(Path.of(file.toUri())).isEqualTo(file);
            assertThat(((VolumeFileSystem) fileSystem).describe()).contains("redirected");
        }
    }
}
