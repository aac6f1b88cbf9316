package org.jrdma.volume.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.volume.model.BufferInUseException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the memory that an NVMe drive accesses without a copy. */
@Timeout(60)
class DmaMemoryRegistryTest {

    private static final int BYTES = Drive.BLOCK_BYTES;
    private static final int BLOCKS = 2048;

    private final BlockStorage storage = BlockStorage.inMemory(BLOCKS, BYTES);
    private final Subsystem subsystem = new Subsystem("serial", "test drive");
    private final StoppableNvmeHost host;
    private final NvmeBlockDrive drive;

    DmaMemoryRegistryTest() throws FabricException {
        var _ = subsystem.addNamespace(storage);
        host = new StoppableNvmeHost(subsystem);
        drive = host.drive();
    }

    @AfterEach
    void close() {
        host.close();
        storage.close();
    }

    private static byte[] randomBytes(Random random, int count) {
        var bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }

    private static void assertEqual(MemorySegment data, byte[] expected) {
        assertThat(data.mismatch(MemorySegment.ofArray(expected))).isEqualTo(-1);
    }

    @Test
    void shouldTransferAnyPartOfTheMemoryWithoutACopy() throws FabricException {
        var seed = new Random().nextLong();
        var random = new Random(seed);
        var memory = drive.newMemory(6 << 20);
        var other = Arena.ofAuto().allocate(6 << 20);
        var copied = 0L;
        for (var i = 0; i < 200; i++) {
            var count = 1 + random.nextInt(random.nextBoolean() ? 1200 : 20);
            var block = random.nextInt(BLOCKS - count);
            var bytes = randomBytes(random, count * BYTES);
            var offset = 4L * random.nextInt((6 << 20) / 4 - bytes.length / 4);
            var isWriteDirect = random.nextBoolean();
            var source = (isWriteDirect ? memory : other).asSlice(offset, bytes.length);
            drive.write(block, source.copyFrom(MemorySegment.ofArray(bytes)));
            var target = (isWriteDirect ? other : memory).asSlice(offset, bytes.length);
            drive.read(block, target.fill((byte) 0));
            copied += bytes.length;

            assertThat(target.mismatch(MemorySegment.ofArray(bytes)))
                    .as("seed %d", seed)
                    .isEqualTo(-1);
        }
        assertThat(host.copiedBytes()).isEqualTo(copied);
    }

    @Test
    void shouldTransferTheMemoryWithoutACopyForAVirtualThread() throws Exception {
        var memory = drive.newMemory(2 * BYTES);
        var bytes = randomBytes(new Random(1), BYTES);
        memory.asSlice(0, BYTES).copyFrom(MemorySegment.ofArray(bytes));
        var task =
                new FutureTask<>(() -> {
                    drive.write(3, memory.asSlice(0, BYTES));
                    drive.read(3, memory.asSlice(BYTES));
                    return true;
                });
        var _ = Thread.ofVirtual().start(task);
        assertThat(task.get()).isTrue();

        assertEqual(memory.asSlice(BYTES), bytes);
        assertThat(host.copiedBytes()).isZero();
    }

    @SuppressWarnings("restricted") // makes a segment without the scope of the memory
    @Test
    void shouldCopyMemoryThatTheDriveCannotAccess() throws FabricException {
        var bytes = randomBytes(new Random(1), BYTES);
        var memory = drive.newMemory(3 * BYTES);
        var unaligned = memory.asSlice(2, BYTES);
        drive.write(3, unaligned.copyFrom(MemorySegment.ofArray(bytes)));
        drive.read(3, memory.asSlice(BYTES + 6, BYTES));
        assertEqual(memory.asSlice(BYTES + 6, BYTES), bytes);
        assertThat(host.copiedBytes()).isEqualTo(2 * BYTES);

        // the same address, but possibly another lifetime
        var foreign = MemorySegment.ofAddress(memory.address()).reinterpret(BYTES);
        drive.read(3, foreign);
        assertEqual(foreign, bytes);
        assertThat(host.copiedBytes()).isEqualTo(3 * BYTES);
    }

    @Test
    void shouldRejectAReadIntoAReadOnlyViewAndLeaveTheMemoryUnchanged() throws FabricException {
        var memory = drive.newMemory(BYTES).fill((byte) 7);
        drive.write(3, memory);
        var _ = memory.fill((byte) 9);

        assertThatThrownBy(() -> drive.read(3, memory.asReadOnly()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 9);

        drive.write(3, memory.asReadOnly());
        drive.read(3, memory.fill((byte) 0));
        assertThat(memory.get(ValueLayout.JAVA_BYTE, BYTES - 1)).isEqualTo((byte) 9);
    }

    @Test
    void shouldAcceptTheMemoryOfOneDriveForOthers() throws FabricException {
        try (var second = new StoppableNvmeHost(subsystem)) {
            var stripes = StripedDrive.create(List.of(drive, new MemoryDrive(BLOCKS)), 2);
            var copied = host.copiedBytes(); // the label
            var bytes = randomBytes(new Random(1), 9 * BYTES);
            var memory = drive.newMemory(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
            stripes.write(1, memory);
            stripes.read(1, memory.fill((byte) 0));
            assertEqual(memory, bytes);

            second.drive().fence().register(Fence.randomKey()); // the first host leads
            second.drive().write(100, memory);
            drive.read(100, memory.fill((byte) 0));
            assertEqual(memory, bytes);
            assertThat(second.copiedBytes()).isEqualTo(bytes.length);
            assertThat(host.copiedBytes()).isEqualTo(copied);
        }
    }

    @Test
    void shouldRejectMemoryOfADriveThatWasClosed() throws FabricException {
        var other = new StoppableNvmeHost(subsystem);
        var memory = other.drive().newMemory(BYTES);
        other.close();

        assertThatThrownBy(() -> memory.get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> drive.write(0, memory)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> drive.read(0, memory)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> other.drive().read(0, memory))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> other.drive().newMemory(BYTES))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldReportMemoryThatAStoppedDriveMayStillAccess() throws FabricException {
        var memory = drive.newMemory(BYTES);
        var mirror = MirroredDrive.create(List.of(drive, new MemoryDrive(BLOCKS)));
        host.stop();

        assertThatThrownBy(() -> drive.flush())
                .isInstanceOf(FabricException.class)
                .isNotInstanceOf(BufferInUseException.class);
        assertThatThrownBy(() -> drive.read(0, Arena.ofAuto().allocate(BYTES)))
                .isInstanceOf(FabricException.class)
                .isNotInstanceOf(BufferInUseException.class);
        host.resume();
        drive.read(0, memory);
        host.stop();
        assertThatThrownBy(() -> mirror.read(0, memory)).isInstanceOf(BufferInUseException.class);
    }

    /** The link can come back, and the drive then executes the commands that were pending. */
    @Test
    void shouldReportMemoryThatAnUnreachableDriveMayAccessLater() throws Exception {
        var memory = drive.newMemory(BYTES);
        drive.read(0, memory);
        host.disconnect();

        assertThatThrownBy(() -> drive.read(0, memory)).isInstanceOf(BufferInUseException.class);
    }

    @Test
    void shouldKeepTheMemoryWhenADriveIsOpenedAgain() throws FabricException {
        var hosts = new ArrayList<StoppableNvmeHost>();
        try (var reopening =
                new ReopeningDrive(() -> {
                    hosts.add(new StoppableNvmeHost(subsystem));
                    return hosts.getLast().drive();
                })) {
            var bytes = randomBytes(new Random(1), 20 * BYTES);
            var memory = reopening.newMemory(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
            reopening.write(5, memory);
            hosts.getFirst().stop();
            assertThatThrownBy(() -> reopening.read(5, memory)).isInstanceOf(FabricException.class);

            reopening.read(5, memory.fill((byte) 0));

            assertThat(hosts).hasSize(2);
            assertEqual(memory, bytes);
        } finally {
            hosts.forEach(StoppableNvmeHost::close);
        }
    }
}
