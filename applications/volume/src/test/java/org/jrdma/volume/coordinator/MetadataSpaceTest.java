package org.jrdma.volume.coordinator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.PeerConnection;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests a volume whose journal has no space for more metadata. */
@Timeout(120)
class MetadataSpaceTest {

    private static final PeerConnection LINK = (_, _) -> ByteBuffer.wrap(ReplyEncoding.empty());

    private final MemoryDrive drive = new MemoryDrive(1024);

    private Coordinator start(long epoch) throws FabricException {
        return new Coordinator(drive, Fence.BY_CLOCK, epoch, Duration.ofSeconds(60), () -> {});
    }

    private static FilePath path(int number, int length) {
        var digits = Integer.toString(number, Character.MAX_RADIX);
        return FilePath.of("/" + digits + "-".repeat(Math.max(0, length - digits.length())));
    }

    private static void createFolder(TestClient client, FilePath path) throws VolumeException {
        var _ =
                client.call(
                        Operation.CREATE_FOLDER,
                        request -> {
                            path.encode(request);
                            request.writeInt(0755);
                        });
    }

    private static void rename(TestClient client, FilePath from, FilePath to)
            throws VolumeException {
        var _ =
                client.call(
                        Operation.RENAME,
                        request -> {
                            from.encode(request);
                            to.encode(request);
                            request.writeBoolean(false);
                        });
    }

    private interface NumberedChange {
        void run(int number) throws VolumeException;
    }

    /** Returns how many changes succeed before the journal is full, or a limit is reached. */
    private static int countUntilFull(int limit, NumberedChange change) {
        for (var number = 0; number < limit; number++) {
            var next = number;
            var failure = catchThrowableOfType(VolumeException.class, () -> change.run(next));
            if (failure != null) {
                assertThat(failure.failure()).isEqualTo(Failure.NO_SPACE);
                return number;
            }
        }
        return limit;
    }

    @Test
    void shouldRejectLongerNamesWhenTheJournalIsFullAndRemainUsable() throws FabricException {
        var _ = VolumeFormatter.create(drive);
        int files;
        int renamed;
        try (var coordinator = start(1)) {
            var client = TestClient.open(coordinator, LINK);
            files = countUntilFull(20_000, number -> createFolder(client, path(number, 0)));
            renamed =
                    countUntilFull(
                            files, number -> rename(client, path(number, 0), path(number, 255)));
            rename(client, path(renamed, 0), FilePath.of("/-"));
        }
        assertThat(files).isBetween(1000, 19_999);
        assertThat(renamed).isLessThan(files);

        try (var coordinator = start(2)) {
            assertThat(coordinator.use().files()).isEqualTo(files + 1);
        }
    }

    @Test
    void shouldRejectSessionsWhoseRepliesWouldNotFitIntoTheJournal() throws FabricException {
        var _ = VolumeFormatter.create(drive);
        try (var coordinator = start(1)) {
            var sessions =
                    countUntilFull(
                            1000,
                            number -> {
                                var client = TestClient.open(coordinator, LINK);
                                for (var i = 0; i < 64; i++) {
                                    var path = FilePath.of("/%d.%d".formatted(number, i));
                                    client.callWithoutAcknowledgement(
                                            Operation.CREATE_FOLDER,
                                            request -> {
                                                path.encode(request);
                                                request.writeInt(0755);
                                            });
                                    client.callWithoutAcknowledgement(
                                            Operation.REMOVE, path::encode);
                                }
                            });
            assertThat(sessions).isBetween(10, 999);
        }
        try (var coordinator = start(2)) {
            assertThat(coordinator.use().files()).isLessThanOrEqualTo(2);
        }
    }
}
