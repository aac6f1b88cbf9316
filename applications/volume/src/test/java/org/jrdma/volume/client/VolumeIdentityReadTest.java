package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Deadline;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.Superblock;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class VolumeIdentityReadTest {

    private static final int BLOCKS = 1024;

    private final MemoryDrive drive = new MemoryDrive(BLOCKS);

    private VolumeIdentity read(Duration timeout) throws Exception {
        return new VolumeIdentity(Optional.of(drive), Deadline.after(timeout));
    }

    @Test
    void shouldWaitUntilTheDriveCanBeRead() throws Exception {
        var superblock = Superblock.forDrive(drive);
        superblock.write(drive);
        drive.fail(true);
        var delayed = CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS);
        delayed.execute(() -> drive.fail(false));

        var identity = read(Duration.ofSeconds(30));

        assertThatCode(() -> identity.check(superblock.id())).doesNotThrowAnyException();
        assertThatThrownBy(() -> identity.check(UUID.randomUUID()))
                .isInstanceOf(OtherVolumeException.class);
    }

    @Test
    void shouldFailWithTheFailureOfTheDriveAfterTheTimeout() {
        drive.fail(true);

        assertThatThrownBy(() -> read(Duration.ofMillis(50)))
                .isInstanceOf(VolumeException.class)
                .hasMessageContaining("on purpose");
    }

    @Test
    void shouldRejectADriveWithoutAVolumeImmediately() {
        assertThatThrownBy(() -> read(Duration.ofDays(1)))
                .isInstanceOf(VolumeException.class)
                .hasMessageContaining("contains no volume");
    }

    @Test
    void shouldEndTheWaitIfTheThreadIsInterrupted() {
        drive.fail(true);
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> read(Duration.ofDays(1))).hasMessageContaining("Interrupted");

        assertThat(Thread.interrupted()).isTrue();
    }
}
