package org.jrdma.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.StoppableNvmeHost;
import org.jrdma.volume.model.BufferInUseException;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the buffers of a volume on an NVMe drive. */
@Timeout(60)
class VolumeBufferTest {

    private static final int BLOCK = Drive.BLOCK_BYTES;
    private static final int FILE_BYTES = 3 << 20;
    private static final NodeOptions NODE =
            NodeOptions.of(TransportKind.SOCKETS)
                    .socketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));

    private final BlockStorage storage = BlockStorage.inMemory(8192, BLOCK);
    private final StoppableNvmeHost serverHost;
    private final StoppableNvmeHost host;
    private final VolumeServer server;
    private final Volume volume;
    private final FileChannel file;

    VolumeBufferTest() throws IOException {
        var subsystem = new Subsystem("serial", "test drive");
        var _ = subsystem.addNamespace(storage);
        serverHost = new StoppableNvmeHost(subsystem);
        host = new StoppableNvmeHost(subsystem);
        VolumeServer.create(serverHost.drive());
        server =
                VolumeServer.start(
                        serverHost.drive(),
                        ServerOptions.named("server")
                                .node(NODE)
                                .lease(Duration.ofSeconds(2))
                                .sessionTimeout(Duration.ofSeconds(2)));
        volume = Volume.open(options("direct").drive(host.drive()));
        file = open(volume);
    }

    private VolumeOptions options(String name) {
        return VolumeOptions.of("buffers-" + name, List.of(server.addresses())).node(NODE);
    }

    private static FileChannel open(Volume volume) throws IOException {
        return FileChannel.open(
                volume.path("/file"),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    @AfterEach
    void close() {
        volume.close();
        server.close();
        host.close();
        serverHost.close();
        storage.close();
    }

    private static byte[] randomBytes(int count) {
        var bytes = new byte[count];
        new Random(count).nextBytes(bytes);
        return bytes;
    }

    private static byte[] content(ByteBuffer buffer) {
        var bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private static byte[] read(FileChannel file, ByteBuffer buffer, long from) throws IOException {
        var copy = buffer.duplicate();
        while (copy.hasRemaining()) {
            assertThat(file.read(copy, from + copy.position() - buffer.position())).isPositive();
        }
        return content(buffer.duplicate());
    }

    @Test
    void shouldTransferWholeBlocksWithoutACopy() throws IOException {
        var bytes = randomBytes(FILE_BYTES);
        var buffer = volume.newBuffer(FILE_BYTES + 100);
        assertThat(buffer.isDirect()).isTrue();
        assertThat(buffer.capacity()).isEqualTo(FILE_BYTES + 100);
        var before = host.copiedBytes();
        var part = buffer.slice(100, FILE_BYTES);
        assertThat(file.write(part.put(bytes).flip(), 0)).isEqualTo(FILE_BYTES);
        assertThat(part.hasRemaining()).isFalse();
        assertThat(read(file, part.clear().put(new byte[FILE_BYTES]).clear(), 0)).isEqualTo(bytes);
        var last = buffer.duplicate().position(4 * BLOCK).limit(5 * BLOCK);
        assertThat(read(file, last, FILE_BYTES - BLOCK))
                .isEqualTo(java.util.Arrays.copyOfRange(bytes, FILE_BYTES - BLOCK, FILE_BYTES));
        assertThat(host.copiedBytes()).isEqualTo(before);

        assertThat(read(file, ByteBuffer.allocate(FILE_BYTES), 0)).isEqualTo(bytes);
        assertThat(host.copiedBytes()).isEqualTo(before + FILE_BYTES);
    }

    @Test
    void shouldTransferPartsOfBlocks() throws IOException {
        var expected = randomBytes(FILE_BYTES);
        file.write(ByteBuffer.wrap(expected), 0);
        var buffer = volume.newBuffer(FILE_BYTES);
        var part = randomBytes(10 * BLOCK + 17);
        file.write(buffer.duplicate().position(3).put(part).flip().position(3), 3 * BLOCK + 5);
        System.arraycopy(part, 0, expected, 3 * BLOCK + 5, part.length);

        assertThat(read(file, buffer, 0)).isEqualTo(expected);
        var target = buffer.slice(7, 2 * BLOCK + 1);
        assertThat(read(file, target, 3 * BLOCK + 1))
                .isEqualTo(java.util.Arrays.copyOfRange(expected, 3 * BLOCK + 1, 5 * BLOCK + 2));
        assertThat(file.read(buffer.clear(), FILE_BYTES)).isEqualTo(-1);
    }

    @Test
    void shouldAcceptTheBuffersOfOtherVolumes() throws IOException {
        var bytes = randomBytes(FILE_BYTES);
        var buffer = volume.newBuffer(FILE_BYTES);
        file.write(buffer.put(bytes).flip(), 0);
        try (var redirected = Volume.open(options("redirected"));
                var other = open(redirected)) {
            assertThat(read(other, buffer.clear(), 0)).isEqualTo(bytes);
            var plain = redirected.newBuffer(FILE_BYTES);
            assertThat(read(other, plain, 0)).isEqualTo(bytes);
            assertThat(read(file, plain, 0)).isEqualTo(bytes);
            assertThatThrownBy(() -> redirected.newBuffer(0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldRedirectTheDataOfOtherBuffersWhenTheDriveIsUnreachable() throws Exception {
        var bytes = randomBytes(FILE_BYTES);
        var buffer = volume.newBuffer(FILE_BYTES);
        file.write(buffer.put(bytes).flip(), 0);
        Thread.sleep(1000); // a heartbeat reports the data server
        host.disconnect();

        assertThatThrownBy(() -> file.read(buffer.clear(), 0))
                .isInstanceOf(BufferInUseException.class);
        assertThat(read(file, ByteBuffer.allocate(FILE_BYTES), 0)).isEqualTo(bytes);
        assertThat(volume.state().data().kind()).isEqualTo(DataPathState.Kind.REDIRECTED);
    }

    @Test
    void shouldNotRedirectTheDataOfABufferThatTheDriveMayStillAccess() throws Exception {
        var buffer = volume.newBuffer(BLOCK);
        file.write(buffer.clear(), 0);
        Thread.sleep(1000); // a heartbeat reports the data server
        host.stop();

        assertThatThrownBy(() -> file.read(buffer.clear(), 0))
                .isInstanceOf(BufferInUseException.class);
        assertThat(file.read(ByteBuffer.allocate(BLOCK), 0)).isEqualTo(BLOCK);
        assertThat(volume.state().data().kind()).isEqualTo(DataPathState.Kind.REDIRECTED);
    }

    @Test
    void shouldRejectABufferWhoseMemoryWasFreed() throws IOException {
        ByteBuffer buffer;
        try (var other = new StoppableNvmeHost(otherDrive())) {
            buffer = other.drive().newMemory(BLOCK).asByteBuffer();
        }
        assertThatThrownBy(() -> buffer.get(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> file.write(buffer, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("freed");
        assertThatThrownBy(() -> file.read(buffer, 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("freed");
        assertThat(volume.state().data().kind()).isEqualTo(DataPathState.Kind.DIRECT);
    }

    private Subsystem otherDrive() {
        var other = new Subsystem("other", "another test drive");
        var _ = other.addNamespace(storage);
        return other;
    }
}
