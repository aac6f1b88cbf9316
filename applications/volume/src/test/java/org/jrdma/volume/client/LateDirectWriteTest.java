package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a direct write that has failed because the link to the drive was cut, on a thread that was
 * interrupted. The drive executes the write when the link works again, unless the coordinator has
 * excluded the client before.
 */
@Timeout(60)
class LateDirectWriteTest {

    private static final FilePath FILE = FilePath.of("/file");

    private final LocalCluster cluster;
    private final RecordingConnector connector;
    private final LateDrive drive;
    private final VolumeClient client;
    private final FileHandle file;

    LateDirectWriteTest() throws Exception {
        cluster = new LocalCluster(8192, 1);
        var _ = cluster.coordinator();
        drive = new LateDrive();
        connector =
                new RecordingConnector(cluster.connector()) {
                    @Override
                    void replied(Operation operation) {
                        if (operation == Operation.EXCLUDE) {
                            drive.isRegistered = false;
                        }
                    }
                };
        client =
                new VolumeClient(
                        LocalCluster.options(Duration.ofSeconds(5), Duration.ofSeconds(1)),
                        connector,
                        Optional.of(drive));
        file = client.open(FILE, Creation.NEW, 0644);
        file.write(0, block('a'));
        file.force();
    }

    @AfterEach
    void stop() throws FabricException {
        drive.restore();
        client.close();
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    private static MemorySegment block(char value) {
        return MemorySegment.ofArray(new byte[Drive.BLOCK_BYTES]).fill((byte) value);
    }

    /** A path to the drive, which executes pending writes when its link works again. */
    private final class LateDrive extends LocalCluster.CutDrive implements Fence {

        private volatile boolean isRegistered;
        private volatile boolean isLinkCut;
        private @Nullable MemorySegment pending;
        private long pendingBlock;

        LateDrive() {
            super(cluster.drive());
        }

        @Override
        public void write(long block, MemorySegment source) throws FabricException {
            if (isLinkCut) {
                pending = Arena.ofAuto().allocate(source.byteSize()).copyFrom(source);
                pendingBlock = block;
                Thread.currentThread().interrupt();
                throw new VolumeException("The link is cut on purpose");
            }
            if (!isRegistered) {
                throw new VolumeException("reservation conflict");
            }
            super.write(block, source);
        }

        @Override
        public void flush() throws FabricException {
            checkLink();
            super.flush();
        }

        private void checkLink() throws VolumeException {
            if (isLinkCut) {
                throw new VolumeException("The link is cut on purpose");
            }
        }

        void restore() throws FabricException {
            isLinkCut = false;
            var write = pending;
            pending = null;
            if (write != null && isRegistered) {
                super.write(pendingBlock, write);
            }
        }

        @Override
        public Fence fence() {
            return this;
        }

        @Override
        public void register(long key) throws FabricException {
            checkLink();
            isRegistered = true;
        }

        @Override
        public void unregister(long key) throws FabricException {
            checkLink();
            isRegistered = false;
        }

        @Override
        public void lead(long key, long predecessor) {}

        @Override
        public void excludeUnknown(Set<Long> known) {}

        @Override
        public boolean exclude(long key) {
            return false;
        }
    }

    private void failToWrite() {
        drive.isLinkCut = true;
        assertThatThrownBy(() -> file.write(0, block('b'))).hasMessageContaining("Interrupted");
        assertThat(Thread.interrupted()).isTrue();
    }

    private FileHandle openWithAnotherClient() throws FabricException {
        return cluster.newClient("other").open(FILE, Creation.EXISTING, 0);
    }

    private static char first(FileHandle handle) throws FabricException {
        var target = block('?');
        var _ = handle.read(0, target);
        return (char) target.get(ValueLayout.JAVA_BYTE, 0);
    }

    @Test
    void shouldNotTakeEffectAfterAnotherClientHasWritten() throws Exception {
        failToWrite();
        try (var other = openWithAnotherClient()) {
            other.write(0, block('c'));
            drive.restore();

            assertThat(first(other)).isEqualTo('c');
            assertThat(connector.requests()).contains(Operation.EXCLUDE);
        }
    }

    /** No node serves blocks, so that the client has only this path. */
    @Test
    void shouldBeFollowedByARegistrationWhenTheDriveWorks() throws Exception {
        failToWrite();
        try (var other = openWithAnotherClient()) {
            other.write(0, block('c'));
            drive.restore();
            while (!drive.isRegistered) {
                Thread.sleep(10);
            }
            file.write(0, block('d'));

            assertThat(first(other)).isEqualTo('d');
        }
    }

    @Test
    void shouldNotExcludeAClientWhoseDriveExecutesLaterAccesses() throws Exception {
        failToWrite();
        drive.pending = null;
        drive.isLinkCut = false;
        try (var other = openWithAnotherClient()) {
            other.write(0, block('c'));

            assertThat(first(file)).isEqualTo('c');
            assertThat(connector.requests()).doesNotContain(Operation.EXCLUDE);
        }
    }

    @Test
    void shouldPreventTheReturnOfTheLeaseUntilTheClientWasExcluded() throws Exception {
        connector.refuse(Operation.EXCLUDE);
        failToWrite();
        try (var other = openWithAnotherClient()) {
            var write =
                    CompletableFuture.runAsync(
                            () -> {
                                try {
                                    other.write(0, block('c'));
                                } catch (FabricException e) {
                                    throw new CompletionException(e);
                                }
                            },
                            task -> Thread.ofPlatform().start(task));
            while (connector.count(Operation.EXCLUDE) < 2) {
                Thread.sleep(1);
            }
            assertThat(write).isNotDone();

            connector.accept(Operation.EXCLUDE);
            write.get();
            drive.restore();
            assertThat(first(other)).isEqualTo('c');
        }
    }

    @Test
    void shouldPreventATruncation() {
        connector.refuse(Operation.EXCLUDE);
        failToWrite();

        assertThatThrownBy(() -> file.truncate(0)).hasMessageContaining("EXCLUDE fails");
        assertThat(connector.requests()).doesNotContain(Operation.TRUNCATE);
    }

    @Test
    void shouldPreventTheCloseOfTheFileAndTheEndOfTheSession() {
        connector.refuse(Operation.EXCLUDE);
        failToWrite();

        assertThatThrownBy(file::close).isInstanceOf(FabricException.class);
        assertThat(connector.requests()).contains(Operation.EXCLUDE);
        assertThat(connector.requests()).doesNotContain(Operation.CLOSE);
        client.close();
        assertThat(connector.requests()).doesNotContain(Operation.GOODBYE);
    }

    @Test
    void shouldNotPreventThatTheFileAndTheSessionAreClosedAfterTheClientWasExcluded() {
        failToWrite();

        assertThatThrownBy(file::close).isInstanceOf(FabricException.class); // no path to the data
        client.close();
        assertThat(connector.requests())
                .containsSubsequence(Operation.EXCLUDE, Operation.CLOSE, Operation.GOODBYE);
    }
}
