package org.jrdma.volume.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.volume.drive.MemoryDrive;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the observer of the journal finds each stale write. */
@Timeout(30)
class StaleJournalWriteDetectorTest {

    private final MemoryDrive drive = new MemoryDrive(Superblock.MIN_BLOCKS);

    private Journal start(Superblock superblock, long epoch) throws Exception {
        return Journal.start(drive, superblock, epoch, Recovery.read(drive, superblock), () -> {});
    }

    private static void append(Journal journal) throws Exception {
        journal.awaitDurable(journal.append(JournalEntry.of()));
    }

    @Test
    void shouldAcceptTheWritesOfSuccessiveCoordinators() throws Exception {
        var superblock = VolumeFormatter.create(drive);
        try (var epochs = new StaleJournalWriteDetector(drive)) {
            append(start(superblock, 1));
            epochs.observe();
            append(start(superblock, 2));
            epochs.observe();

            assertThat(epochs.violations()).isEmpty();
            assertThat(epochs.newest()).isEqualTo(2);
        }
    }

    @Test
    void shouldFindAWriteOfADeposedCoordinator() throws Exception {
        var superblock = VolumeFormatter.create(drive);
        try (var epochs = new StaleJournalWriteDetector(drive)) {
            var deposed = start(superblock, 1);
            var _ = start(superblock, 2);
            epochs.observe();
            append(deposed);
            epochs.observe();

            assertThat(epochs.violations())
                    .singleElement()
                    .asString()
                    .contains("epoch=1", "after epoch 2 had begun");
        }
    }
}
