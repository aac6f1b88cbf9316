package org.jrdma.volume.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.jrdma.ffi.FabricException;

/** Assertions for all kinds of drives. */
final class DriveAssertions {

    private static final int BYTES = Drive.BLOCK_BYTES;

    private DriveAssertions() {}

    /** Compares a drive with an array after random reads and writes. */
    static void assertStoresBlocks(Drive drive, int maxBlocks) throws FabricException {
        var seed = new Random().nextLong();
        var random = new Random(seed);
        var blocks = (int) drive.blocks();
        var expected = new byte[blocks * BYTES];
        try (var arena = Arena.ofConfined()) {
            for (var i = 0; i < 200; i++) {
                var count = 1 + random.nextInt(Math.min(maxBlocks, blocks));
                var block = random.nextInt(blocks - count + 1);
                var data = arena.allocate((long) count * BYTES, BYTES);
                if (random.nextBoolean()) {
                    var bytes = new byte[count * BYTES];
                    random.nextBytes(bytes);
                    System.arraycopy(bytes, 0, expected, block * BYTES, bytes.length);
                    data.copyFrom(MemorySegment.ofArray(bytes));
                    drive.write(block, data);
                } else {
                    drive.read(block, data);
                    assertThat(
                                    data.mismatch(
                                            MemorySegment.ofArray(expected)
                                                    .asSlice(
                                                            (long) block * BYTES, data.byteSize())))
                            .as("seed %d", seed)
                            .isEqualTo(-1);
                }
            }
        }
        drive.flush();
    }

    static void assertRejects(Drive drive, long block, long bytes) {
        try (var arena = Arena.ofConfined()) {
            var memory = arena.allocate(bytes);
            assertThatThrownBy(() -> drive.read(block, memory))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> drive.write(block, memory))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }
}
