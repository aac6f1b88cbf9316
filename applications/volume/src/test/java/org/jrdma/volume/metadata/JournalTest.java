package org.jrdma.volume.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Test;

class JournalTest {

    private static final int BLOCKS = 1024;
    private static final int GROUPS = Boolean.getBoolean("jrdma.test.quick") ? 60 : 400;

    private final MemoryDrive drive = new MemoryDrive(BLOCKS);

    private static Recovery recover(MemoryDrive drive) throws FabricException {
        return Recovery.read(drive, Superblock.read(drive));
    }

    private Journal start(Recovery recovery, long epoch) throws FabricException {
        return Journal.start(drive, Superblock.read(drive), epoch, recovery, () -> {});
    }

    @Test
    void shouldRestoreAllDurableChanges() throws FabricException {
        var _ = VolumeFormatter.create(drive);
        var recovery = recover(drive);
        var journal = start(recovery, 1);
        var changes = new RandomChanges(1);
        for (var i = 0; i < 100; i++) {
            append(journal, changes, recovery.namespace());
        }
        journal.awaitDurable(journal.position());

        var restored = recover(drive);

        assertThat(NamespaceTest.encoded(restored.namespace()))
                .isEqualTo(NamespaceTest.encoded(recovery.namespace()));
        assertThat(restored.entries()).isEqualTo(100);
    }

    private static void append(Journal journal, RandomChanges changes, Namespace namespace) {
        var _ = journal.append(JournalEntry.of(changes.applyNext(namespace)));
    }

    /**
     * Records all writes of two epochs, then recovers from the content after each of them: with all
     * writes so far, and with a random subset of those after the last flush.
     */
    @Test
    void shouldRestoreAllAcknowledgedChangesAfterAnInterruptionAtAnyWrite() throws FabricException {
        var seed = ThreadLocalRandom.current().nextLong();
        System.out.println("Seed: " + seed);
        var random = new Random(seed);
        var changes = new RandomChanges(seed);
        var _ = VolumeFormatter.create(drive);
        var before = drive.copy();
        drive.record();

        // states.get(n) is the namespace after n entries; acknowledged.get(w) is the number of
        // entries that were acknowledged when w writes had been recorded
        List<byte[]> states = new ArrayList<>();
        List<Integer> acknowledged = new ArrayList<>();
        var count = 0;
        for (var epoch = 1; epoch <= 2; epoch++) {
            var recovery = recover(drive);
            var namespace = recovery.namespace();
            if (states.isEmpty()) {
                states.add(NamespaceTest.encoded(namespace));
            }
            assertThat(NamespaceTest.encoded(namespace)).isEqualTo(states.getLast());
            var journal = start(recovery, epoch);
            note(acknowledged, states.size() - 1);
            for (var i = 0; i < GROUPS; i++) {
                var group = 1 + random.nextInt(4);
                for (var entry = 0; entry < group; entry++) {
                    if (journal.isFull()) {
                        note(acknowledged, count);
                        journal.snapshot(namespace);
                        count = states.size() - 1;
                        note(acknowledged, count);
                    }
                    append(journal, changes, namespace);
                    states.add(NamespaceTest.encoded(namespace));
                }
                journal.awaitDurable(journal.position());
                count = states.size() - 1;
                note(acknowledged, count);
            }
        }

        var recoveries = 0;
        for (var writes = 0; writes <= drive.recorded(); writes++) {
            for (var repetition = 0; repetition < 3; repetition++) {
                var image = drive.interrupted(before, writes, repetition == 0 ? null : random);
                var restored = NamespaceTest.encoded(recover(image).namespace());
                var first = writes < acknowledged.size() ? acknowledged.get(writes) : count;
                assertThat(states.subList(first, states.size()).stream())
                        .as("seed %d, interruption after %d writes", seed, writes)
                        .anyMatch(state -> Arrays.equals(state, restored));
                recoveries++;
            }
        }
        System.out.printf(
                "%d entries, %d writes, %d recoveries%n",
                states.size() - 1, drive.recorded(), recoveries);
    }

    /** All writes so far that were not noted happened while fewer entries were acknowledged. */
    private void note(List<Integer> acknowledged, int count) {
        while (acknowledged.size() < drive.recorded()) {
            acknowledged.add(acknowledged.isEmpty() ? 0 : acknowledged.getLast());
        }
        if (acknowledged.size() == drive.recorded()) {
            acknowledged.add(count);
        } else {
            acknowledged.set(drive.recorded(), count);
        }
    }

    @Test
    void shouldMoveToTheOtherAreaWhenAnAreaIsFull() throws FabricException {
        var _ = VolumeFormatter.create(drive);
        var recovery = recover(drive);
        var journal = start(recovery, 1);
        var changes = new RandomChanges(3);
        var snapshots = 0;
        for (var i = 0; i < 1000; i++) {
            if (journal.isFull()) {
                journal.snapshot(recovery.namespace());
                snapshots++;
            }
            append(journal, changes, recovery.namespace());
            journal.awaitDurable(journal.position());
        }

        assertThat(snapshots).isGreaterThan(5);
        assertThat(NamespaceTest.encoded(recover(drive).namespace()))
                .isEqualTo(NamespaceTest.encoded(recovery.namespace()));
    }

    @Test
    void shouldIgnoreWhatADeposedCoordinatorWritesLate() throws FabricException {
        var _ = VolumeFormatter.create(drive);
        var first = recover(drive);
        var deposed = start(first, 1);
        var changes = new RandomChanges(4);
        append(deposed, changes, first.namespace());
        deposed.awaitDurable(deposed.position());

        var second = recover(drive);
        var journal = start(second, 2);
        append(deposed, changes, first.namespace());
        deposed.awaitDurable(deposed.position());
        append(journal, changes, second.namespace());
        journal.awaitDurable(journal.position());

        assertThat(NamespaceTest.encoded(recover(drive).namespace()))
                .isEqualTo(NamespaceTest.encoded(second.namespace()));
    }

    @Test
    void shouldDetectADamagedHeaderAndNotRestoreAnOlderState() throws FabricException {
        var superblock = VolumeFormatter.create(drive);
        var recovery = recover(drive);
        var journal = start(recovery, 1);
        append(journal, new RandomChanges(6), recovery.namespace());
        journal.awaitDurable(journal.position());
        drive.flipBit(superblock.areaBlock(recover(drive).area()), 1000);

        assertThatThrownBy(() -> recover(drive))
                .hasMessageContaining("the header of generation 2 is invalid");
    }

    @Test
    void shouldNotAcknowledgeAfterASnapshotHasFailed() throws FabricException {
        var _ = VolumeFormatter.create(drive);
        var recovery = recover(drive);
        var journal = start(recovery, 1);
        drive.fail(true);
        assertThatThrownBy(() -> journal.snapshot(recovery.namespace()))
                .hasMessageContaining("on purpose");
        drive.fail(false);

        assertThatThrownBy(() -> journal.awaitDurable(journal.position()))
                .hasMessageContaining("The journal has failed");
    }

    @Test
    void shouldNotAcknowledgeAfterTheNodeHasLostItsRole() throws FabricException {
        var _ = VolumeFormatter.create(drive);
        var recovery = recover(drive);
        var isDeposed = new AtomicBoolean();
        var journal =
                Journal.start(
                        drive,
                        Superblock.read(drive),
                        1,
                        recovery,
                        () -> {
                            if (isDeposed.get()) {
                                throw new VolumeException("deposed");
                            }
                        });
        var before = NamespaceTest.encoded(recovery.namespace());
        append(journal, new RandomChanges(5), recovery.namespace());
        isDeposed.set(true);

        assertThatThrownBy(() -> journal.awaitDurable(journal.position()))
                .hasMessageContaining("deposed");
        isDeposed.set(false);
        assertThatThrownBy(() -> journal.awaitDurable(journal.position()))
                .hasMessageContaining("The journal has failed");
        assertThat(NamespaceTest.encoded(recover(drive).namespace())).isEqualTo(before);
    }

    @Test
    void shouldReportADamagedBlockInsteadOfLosingAcknowledgedChanges() throws FabricException {
        var superblock = VolumeFormatter.create(drive);
        var recovery = recover(drive);
        var journal = start(recovery, 1);
        var changes = new RandomChanges(6);
        for (var i = 0; i < 3; i++) {
            append(journal, changes, recovery.namespace());
            journal.awaitDurable(journal.position());
        }
        // area 1: header, snapshot, and the three groups
        drive.flipBit(superblock.areaBlock(1) + 3, 1000);

        assertThatThrownBy(() -> recover(drive)).hasMessageContaining("damaged");
        assertThat(VolumeCheck.run(drive).problems()).hasSize(1);
    }

    @Test
    void shouldReportADamagedSnapshot() throws FabricException {
        var superblock = VolumeFormatter.create(drive);
        drive.flipBit(superblock.areaBlock(0) + 1, 800);

        assertThatThrownBy(() -> recover(drive)).hasMessageContaining("block 1 of the snapshot");
    }

    @Test
    void shouldFailAfterTheDriveHasFailed() throws FabricException {
        var _ = VolumeFormatter.create(drive);
        var recovery = recover(drive);
        var journal = start(recovery, 1);
        drive.fail(true);
        append(journal, new RandomChanges(7), recovery.namespace());

        assertThatThrownBy(() -> journal.awaitDurable(journal.position()))
                .hasMessageContaining("on purpose");
        drive.fail(false);
        assertThatThrownBy(() -> journal.awaitDurable(journal.position()))
                .hasMessageContaining("The journal has failed");
    }
}
