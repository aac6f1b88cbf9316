package org.jrdma.volume.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.volume.drive.DriveAssertions.assertRejects;
import static org.jrdma.volume.drive.DriveAssertions.assertStoresBlocks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Test;

class DriveGroupTest {

    private static final int BYTES = Drive.BLOCK_BYTES;

    private final MemoryDrive first = new MemoryDrive(30);
    private final MemoryDrive second = new MemoryDrive(30);
    private final MemoryDrive third = new MemoryDrive(30);

    private static MemorySegment block(int value) {
        return Arena.ofAuto().allocate(BYTES, BYTES).fill((byte) value);
    }

    private static void assertHolds(Drive drive, long block, MemorySegment expected)
            throws FabricException {
        var read = block(0);
        drive.read(block, read);
        assertThat(read.mismatch(expected)).isEqualTo(-1);
    }

    @Test
    void shouldDistributeStripes() throws FabricException {
        var members = List.of(new MemoryDrive(14), new MemoryDrive(21), new MemoryDrive(13));
        try (var drive = StripedDrive.create(List.copyOf(members), 4)) {
            assertThat(drive.blocks()).isEqualTo(36);
            assertStoresBlocks(drive, 20);
            assertRejects(drive, 35, 2 * BYTES);

            var data = block(9);
            drive.write(17, data); // stripe 4 is the second one of drive 1, after its label
            assertHolds(members.get(1), 6, data);
        }
    }

    @Test
    void shouldReadFromTheMirrorThatWorks() throws FabricException {
        try (var drive = MirroredDrive.create(List.of(first, second))) {
            assertThat(drive.blocks()).isEqualTo(29);
            assertStoresBlocks(drive, 10);
            var data = block(5);
            drive.write(4, data);
            first.fail(true);
            assertHolds(drive, 4, data);

            // a write that not all drives have would be lost for the readers of the others
            assertThatThrownBy(() -> drive.write(4, data)).hasMessageContaining("on purpose");
            second.fail(true);
            assertThatThrownBy(() -> drive.read(4, block(0))).hasMessageContaining("on purpose");
        }
    }

    @Test
    void shouldOpenStripesInAnyOrderWithTheSizeOfTheirCreation() throws FabricException {
        StripedDrive.create(List.of(first, second, third), 2).write(9, block(7));

        var opened = StripedDrive.open(List.of(third, first, second));

        assertThat(opened.blocks()).isEqualTo(84);
        assertHolds(opened, 9, block(7));
    }

    @Test
    void shouldRejectDrivesThatAreNotOneCompleteGroup() throws FabricException {
        StripedDrive.create(List.of(first, second), 2);
        var mirror = List.<Drive>of(third, new MemoryDrive(30));
        MirroredDrive.create(mirror);
        var other = new MemoryDrive(30);
        StripedDrive.create(List.of(other, new MemoryDrive(30)), 2);

        assertRejectsStripes("are only 1 of the 2 drives of stripes", second);
        assertRejectsStripes("do not belong to the same group", first, other);
        assertRejectsStripes("are the same drive", first, second, first);
        assertRejectsStripes("is a part of a mirror, not of stripes", third);
        assertRejectsStripes("is neither a part of stripes nor of a mirror", new MemoryDrive(30));
        assertThatThrownBy(() -> MirroredDrive.open(List.of(first, second)))
                .isInstanceOf(VolumeException.class)
                .hasMessageContaining("is a part of stripes, not of a mirror");
        second.flipBit(0, 100);
        assertRejectsStripes("is neither a part of stripes nor of a mirror", first, second);
    }

    private static void assertRejectsStripes(String message, Drive... drives) {
        assertThatThrownBy(() -> StripedDrive.open(List.of(drives)))
                .isInstanceOf(VolumeException.class)
                .hasMessageContaining(message);
    }

    @Test
    void shouldRejectGroupsThatCannotBeCreated() {
        assertThatThrownBy(() -> StripedDrive.create(List.of(first), 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A group needs at least two drives, but has 1");
        assertThatThrownBy(() -> MirroredDrive.create(List.of()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> StripedDrive.create(List.of(first, second), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("The size of a stripe is 0 blocks. It must be positive.");
        assertThatThrownBy(() -> MirroredDrive.create(List.of(first, new MemoryDrive(1))))
                .isInstanceOf(VolumeException.class)
                .hasMessageContaining("memory has 4096 bytes");
    }

    @Test
    void shouldExcludeTheLostDrivesFromAReducedMirror() throws FabricException {
        var all = MirroredDrive.create(List.of(first, second, third));
        all.write(3, block(1));
        first.fail(true);

        var remaining = MirroredDrive.openIncomplete(List.of(second, third));
        assertHolds(remaining, 3, block(1));
        assertThatThrownBy(() -> remaining.write(3, block(2)))
                .isInstanceOf(VolumeException.class)
                .hasMessageContaining("lacks drives, and was not reduced");
        remaining.reduce();
        remaining.write(3, block(2));

        first.fail(false);
        assertThatThrownBy(() -> MirroredDrive.open(List.of(first, second, third)))
                .hasMessageContaining("do not belong to the same group");
        assertHolds(MirroredDrive.open(List.of(third, second)), 3, block(2));
    }
}
