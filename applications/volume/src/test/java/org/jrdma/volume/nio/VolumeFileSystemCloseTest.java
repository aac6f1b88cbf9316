package org.jrdma.volume.nio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.Conditions;
import org.jrdma.volume.client.FileHandle;
import org.jrdma.volume.client.LocalCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class VolumeFileSystemCloseTest {

    private final LocalCluster cluster = new LocalCluster(8192, 1);
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final VolumeFileSystem fileSystem =
            new VolumeFileSystem("closed", cluster.newClient("client"), () -> isClosed.set(true));
    private final VolumeFileSystem other =
            new VolumeFileSystem("open", cluster.newClient("other"), () -> {});

    VolumeFileSystemCloseTest() throws FabricException {}

    @AfterEach
    void stop() {
        fileSystem.close();
        other.close();
        cluster.close();
    }

    private FileChannel open(VolumeFileSystem volume) throws IOException {
        return FileChannel.open(volume.getPath("/file"), CREATE, WRITE);
    }

    @Test
    void shouldCloseOpenChannelsAndStreamsAndKeepTheirData() throws IOException {
        var channel = open(fileSystem);
        var stream = Files.newOutputStream(fileSystem.getPath("/stream"));
        channel.write(UTF_8.encode("data"));
        stream.write('x');

        fileSystem.close();

        assertThat(channel.isOpen()).isFalse();
        assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1)))
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(channel::size).isInstanceOf(ClosedChannelException.class);
        assertThatCode(channel::close).doesNotThrowAnyException();
        assertThatThrownBy(() -> stream.write('y')).isInstanceOf(ClosedChannelException.class);
        assertThatCode(stream::close).doesNotThrowAnyException();
        assertThat(Files.readString(other.getPath("/file"))).isEqualTo("data");
        assertThat(Files.readString(other.getPath("/stream"))).isEqualTo("x");
    }

    @Test
    void shouldDeleteAFileThatIsDeletedWhenItsChannelIsClosed() throws IOException {
        var path = fileSystem.getPath("/temporary");
        var channel = FileChannel.open(path, CREATE, WRITE, DELETE_ON_CLOSE);

        fileSystem.close();

        assertThat(channel.isOpen()).isFalse();
        assertThat(other.getPath("/temporary")).doesNotExist();
    }

    @Test
    void shouldEndTheWaitForALock() throws Exception {
        try (var holder = open(other);
                var _ = holder.lock()) {
            var channel = open(fileSystem);
            var waiting = new FutureTask<FileLock>(channel::lock);
            var thread = Thread.ofPlatform().start(waiting);
            var _ =
                    Conditions.await(
                            () -> isLocking(thread) ? Optional.of(true) : Optional.empty());

            fileSystem.close();

            assertThatThrownBy(waiting::get).hasCauseInstanceOf(AsynchronousCloseException.class);
        }
    }

    private static boolean isLocking(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame ->
                        frame.getClassName().equals(FileHandle.class.getName())
                                && frame.getMethodName().equals("lock"));
    }

    @Test
    void shouldEndADirectoryStream() throws IOException {
        for (var name : new String[] {"a", "b", "c"}) {
            Files.createFile(fileSystem.getPath(name));
        }
        try (var stream = Files.newDirectoryStream(fileSystem.getPath("/"))) {
            var iterator = stream.iterator();
            assertThat(iterator.next()).hasToString("/a");
            assertThat(iterator.hasNext()).isTrue();

            fileSystem.close();

            assertThat(iterator.next()).hasToString("/b"); // hasNext() has announced it
            assertThat(iterator.hasNext()).isFalse();
        }
    }

    @Test
    void shouldCloseEverythingElseIfOneChannelCannotBeClosed() throws IOException {
        Closeable failing =
                () -> {
                    throw new IOException("on purpose");
                };
        var _ = fileSystem.add(failing);
        var channel = open(fileSystem);

        fileSystem.close();

        assertThat(channel.isOpen()).isFalse();
        assertThat(isClosed).isTrue();
    }

    @Test
    void shouldNotReturnBeforeAnotherThreadHasClosedIt() throws Exception {
        var isReached = new CountDownLatch(1);
        var isReleased = new CountDownLatch(1);
        Closeable blocking =
                () -> {
                    isReached.countDown();
                    try {
                        isReleased.await();
                    } catch (InterruptedException e) {
                        throw new IOException(e);
                    }
                };
        var _ = fileSystem.add(blocking);
        var first = Thread.ofPlatform().start(fileSystem::close);
        isReached.await();
        var second =
                new FutureTask<Boolean>(() -> {
                    fileSystem.close();
                    return isClosed.get();
                });
        var thread = Thread.ofPlatform().start(second);
        var _ =
                Conditions.await(() ->
                        thread.getState() == Thread.State.WAITING || second.isDone()
                                ? Optional.of(true)
                                : Optional.empty());

        isReleased.countDown();

        assertThat(second.get()).isTrue();
        first.join();
    }

    @Test
    void shouldCloseAChannelThatIsOpenedMeanwhile() {
        fileSystem.close();
        var isChannelClosed = new AtomicBoolean();
        Closeable channel = () -> isChannelClosed.set(true);

        assertThatThrownBy(() -> fileSystem.add(channel))
                .isInstanceOf(ClosedFileSystemException.class);
        assertThat(isChannelClosed).isTrue();
    }
}
