package org.jrdma.volume.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.volume.drive.DriveAssertions.assertRejects;
import static org.jrdma.volume.drive.DriveAssertions.assertStoresBlocks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.Nvme;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.pcie.InProcessControllerAccess;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.soft.sisci.device.DeviceHost;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriveTest {

    private static final int BYTES = Drive.BLOCK_BYTES;

    @TempDir Path folder;

    @Test
    void shouldStoreBlocksInAFile() throws FabricException {
        try (var drive = FileDrive.create(folder.resolve("drive"), 50)) {
            assertThat(drive.blocks()).isEqualTo(50);
            assertStoresBlocks(drive, 10);
            assertRejects(drive, 49, 2 * BYTES);
            assertRejects(drive, -1, BYTES);
            assertRejects(drive, 0, BYTES / 2);
        }
    }

    @Test
    void shouldShowTheBlocksOfAFileToAnotherUserOfTheFile() throws FabricException {
        var file = folder.resolve("drive");
        try (var drive = FileDrive.create(file, 10);
                var other = FileDrive.open(file);
                var arena = Arena.ofConfined()) {
            var data = arena.allocate(BYTES);
            data.set(ValueLayout.JAVA_BYTE, 7, (byte) 42);
            drive.write(3, data);
            var read = arena.allocate(BYTES);
            other.read(3, read);

            assertThat(read.mismatch(data)).isEqualTo(-1);
        }
    }

    @Test
    void shouldReportATruncatedFileAndAClosedDrive() throws IOException {
        var file = folder.resolve("drive");
        var drive = FileDrive.create(file, 10);
        Files.write(file, new byte[BYTES]);
        try (var arena = Arena.ofConfined()) {
            var data = arena.allocate(BYTES);
            assertThatThrownBy(() -> drive.read(5, data))
                    .isInstanceOf(VolumeException.class)
                    .hasMessageContaining("truncated");
            drive.close();
            drive.close();
            assertThatThrownBy(() -> drive.read(0, data)).isInstanceOf(IllegalStateException.class);
        }
    }

    /** Linux reports a failed write-back once, so that the next flush would succeed. */
    @Test
    void shouldFailAllFlushesOfAFileAfterAFailedOneUntilItIsOpenedAgain() throws FabricException {
        var file = folder.resolve("drive");
        FileDrive.create(file, 10).close();
        var isFailing = new AtomicBoolean(true);
        try (var drive =
                FileDrive.open(
                        file,
                        memory -> {
                            if (isFailing.getAndSet(false)) {
                                throw new UncheckedIOException(new IOException("on purpose"));
                            }
                            memory.force();
                        })) {
            for (var i = 0; i < 2; i++) {
                assertThatThrownBy(drive::flush)
                        .isInstanceOf(VolumeException.class)
                        .extracting(e -> ((VolumeException) e).failure())
                        .isEqualTo(Failure.DATA_LOST);
            }
        }
        try (var drive = FileDrive.open(file)) {
            assertThatCode(drive::flush).doesNotThrowAnyException();
        }
    }

    @Test
    void shouldRejectFilesThatAreNotDrives() throws IOException {
        var small = Files.write(folder.resolve("small"), new byte[100]);

        assertThatThrownBy(() -> FileDrive.open(small)).hasMessageContaining("100 bytes");
        assertThatThrownBy(() -> FileDrive.create(small, 10)).hasMessageContaining("Cannot create");
        assertThatThrownBy(() -> FileDrive.open(folder)).hasMessageContaining("not a regular file");
    }

    @Test
    void shouldReportWhatDoesNotExist() {
        var missing = folder.resolve("missing");

        assertThatThrownBy(() -> FileDrive.open(missing))
                .hasMessage("Cannot open the drive %s: it does not exist", missing);
        assertThatThrownBy(() -> FileDrive.create(missing.resolve("drive"), 10))
                .hasMessage(
                        "Cannot create the drive %s/drive: the folder %s does not exist",
                        missing, missing);
    }

    @Test
    void shouldStoreBlocksOnAnNvmeDriveFromManyThreads() throws Exception {
        try (var arena = Arena.ofShared();
                var storage = BlockStorage.inMemory(16_384, 512)) {
            var subsystem = new Subsystem("serial 1", "test drive");
            var _ = subsystem.addNamespace(storage);
            var bar = arena.allocate(0x4000, 4096);
            try (var host = DeviceHost.start(subsystem.newController(), List.of(bar));
                    var access = new InProcessControllerAccess(host, bar, 1)) {
                var nvme = Nvme.open(access, NvmeOptions.DEFAULTS);
                try (var drive =
                        new NvmeBlockDrive(
                                nvme, nvme.namespaces().getFirst(), Duration.ofSeconds(5))) {
                    assertThat(drive.blocks()).isEqualTo(2048);
                    assertStoresBlocks(drive, 700);
                    assertRejects(drive, 2048, BYTES);
                    writeFromManyThreads(drive);
                    transferConfinedMemory(drive);
                }
            }
        }
    }

    @Test
    void shouldExcludeAHostFromTheWritesOfAnNvmeDrive() throws Exception {
        try (var shared = new SharedDrive();
                var first = shared.newHost(1);
                var second = shared.newHost(2);
                var third = shared.newHost(3)) {
            first.drive.fence().lead(11, 0);
            second.drive.fence().register(22);
            first.write();
            second.write();
            assertThatThrownBy(third::write).hasMessageContaining("reservation");

            assertThat(first.drive.fence().exclude(33)).isFalse();
            assertThat(first.drive.fence().exclude(22)).isTrue();
            assertThatThrownBy(second::write).hasMessageContaining("reservation");
            first.write();

            second.drive.fence().register(23);
            second.write();
            second.drive.fence().lead(23, 11);
            assertThatThrownBy(first::write).hasMessageContaining("reservation");
            second.write();
        }
    }

    @Test
    void shouldExcludeAHostAfterTheCoordinatorHasOpenedTheDriveAgain() throws Exception {
        try (var shared = new SharedDrive()) {
            try (var first = shared.newHost(1)) {
                first.drive.fence().lead(11, 0);
            }
            try (var first = shared.newHost(1);
                    var second = shared.newHost(2)) {
                second.drive.fence().register(22);
                second.write();

                assertThat(first.drive.fence().exclude(11)).isFalse();
                assertThat(first.drive.fence().exclude(22)).isTrue();
                assertThatThrownBy(second::write).hasMessageContaining("reservation");
                first.write();
            }
        }
    }

    @Test
    void shouldRefuseTheWritesOfAHostThatHasRemovedItsRegistration() throws Exception {
        try (var shared = new SharedDrive();
                var first = shared.newHost(1);
                var second = shared.newHost(2);
                var third = shared.newHost(3)) {
            first.drive.fence().lead(11, 0);
            second.drive.fence().register(22);
            second.drive.fence().unregister(23); // not the key of the host
            second.write();
            second.drive.fence().unregister(22);
            second.drive.fence().unregister(22);
            assertThatThrownBy(second::write).hasMessageContaining("reservation");

            first.drive.fence().unregister(11); // the drive would accept all writes
            first.write();
            assertThatThrownBy(third::write).hasMessageContaining("reservation");
        }
    }

    @Test
    void shouldExcludeHostsThatTheCoordinatorDoesNotKnow() throws Exception {
        try (var shared = new SharedDrive();
                var first = shared.newHost(1);
                var second = shared.newHost(2);
                var third = shared.newHost(3)) {
            first.drive.fence().lead(11, 0);
            second.drive.fence().register(22);
            third.drive.fence().register(33);
            third.write();

            first.drive.fence().excludeUnknown(Set.of(22L));

            first.write();
            second.write();
            assertThatThrownBy(third::write).hasMessageContaining("reservation");
        }
    }

    @Test
    void shouldRefuseAnExclusionByAHostThatWasExcluded() throws Exception {
        try (var shared = new SharedDrive();
                var first = shared.newHost(1);
                var second = shared.newHost(2);
                var third = shared.newHost(3)) {
            first.drive.fence().lead(11, 0);
            third.drive.fence().register(33);
            second.drive.fence().lead(22, 11);

            assertThatThrownBy(() -> first.drive.fence().exclude(33)).matches(Fence::isRefusal);
            third.write();
        }
    }

    @Test
    void shouldCreateAVolumeOnADriveThatAnEarlierCoordinatorHasReserved() throws Exception {
        var subsystem = new Subsystem("serial", "drive of a test");
        try (var storage = BlockStorage.inMemory(4096, BYTES);
                var arena = Arena.ofShared()) {
            var _ = subsystem.addNamespace(storage);
            try (var first = new Host(arena, subsystem, 1)) {
                first.drive.fence().lead(11, 0);
                try (var second = new Host(arena, subsystem, 2)) {
                    assertThatThrownBy(second::write).hasMessageContaining("reservation");

                    VolumeServer.create(second.drive);

                    assertThatThrownBy(first::write).hasMessageContaining("reservation");
                    assertThat(VolumeServer.check(second.drive)).isEmpty();
                }
            }
        }
    }

    @Test
    void shouldCreateGroupsAndReduceAMirrorOnDrivesThatHaveServedAVolume() throws Exception {
        try (var storage = BlockStorage.inMemory(4096, BYTES);
                var otherStorage = BlockStorage.inMemory(4096, BYTES);
                var arena = Arena.ofShared()) {
            var subsystem = new Subsystem("serial 7", "drive of a test");
            var _ = subsystem.addNamespace(storage);
            var other = new Subsystem("serial 8", "another drive of a test");
            var _ = other.addNamespace(otherStorage);
            try (var first = new Host(arena, subsystem, 1);
                    var second = new Host(arena, other, 1)) {
                serve(MirroredDrive.create(List.of(first.drive, second.drive)));
            }
            try (var first = new Host(arena, subsystem, 2)) {
                var mirror = MirroredDrive.openIncomplete(List.of(first.drive));
                assertThatThrownBy(first::write).hasMessageContaining("reservation");
                mirror.reduce();
                assertThat(VolumeServer.check(mirror)).isEmpty();
                serve(mirror);
            }
            try (var first = new Host(arena, subsystem, 3);
                    var second = new Host(arena, other, 3)) {
                serve(StripedDrive.create(List.of(first.drive, second.drive), 4));
            }
            try (var first = new Host(arena, subsystem, 4);
                    var second = new Host(arena, other, 4)) {
                serve(MirroredDrive.create(List.of(first.drive, second.drive)));
            }
        }
    }

    /** Creates a volume, and reserves the drive as its coordinator does. */
    private static void serve(Drive drive) throws FabricException {
        VolumeServer.create(drive);
        drive.fence().lead(11, 0);
        assertThat(VolumeServer.check(drive)).isEmpty();
    }

    /** A drive that several hosts share. */
    private static final class SharedDrive implements AutoCloseable {

        private final Arena arena = Arena.ofShared();
        private final BlockStorage storage = BlockStorage.inMemory(16_384, 512);
        private final Subsystem subsystem = new Subsystem("serial", "shared drive");

        SharedDrive() throws FabricException {
            var _ = subsystem.addNamespace(storage);
        }

        /** Returns a host, which must be closed before this drive. */
        Host newHost(long identifier) throws FabricException {
            return new Host(arena, subsystem, identifier);
        }

        @Override
        public void close() throws IOException {
            storage.close();
            arena.close();
        }
    }

    /** A host with a controller of its own. */
    private static final class Host implements AutoCloseable {

        private final DeviceHost device;
        private final InProcessControllerAccess access;
        private final NvmeBlockDrive drive;

        Host(Arena arena, Subsystem subsystem, long identifier) throws FabricException {
            var bar = arena.allocate(0x4000, 4096);
            device = DeviceHost.start(subsystem.newController(), List.of(bar));
            access = new InProcessControllerAccess(device, bar, 1);
            var nvme =
                    Nvme.open(
                            access,
                            NvmeOptions.DEFAULTS.hostIdentifier(HostIdentifier.of(identifier)));
            drive = new NvmeBlockDrive(nvme, nvme.namespaces().getFirst(), Duration.ofSeconds(5));
        }

        void write() throws FabricException {
            try (var memory = Arena.ofConfined()) {
                drive.write(1, memory.allocate(BYTES));
            }
        }

        @Override
        public void close() {
            drive.close();
            access.close();
            device.close();
        }
    }

    private static void writeFromManyThreads(Drive drive) throws InterruptedException {
        var failures = new ConcurrentLinkedQueue<Throwable>();
        var threads =
                java.util.stream.IntStream.range(0, 24)
                        .mapToObj(number -> {
                            var builder =
                                    number % 2 == 0 ? Thread.ofVirtual() : Thread.ofPlatform();
                            return builder.start(() -> {
                                try {
                                    writeAndRead(drive, number);
                                } catch (FabricException | RuntimeException e) {
                                    failures.add(e);
                                }
                            });
                        })
                        .toList();
        for (var thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
    }

    /** The memory of a virtual thread is copied, because an I/O thread transfers the data. */
    private static void transferConfinedMemory(Drive drive) throws Exception {
        var mismatch =
                new FutureTask<>(() -> {
                    try (var arena = Arena.ofConfined()) {
                        var data = arena.allocate(3L * BYTES).fill((byte) 7);
                        var read = arena.allocate(3L * BYTES);
                        drive.write(3, data);
                        drive.read(3, read);
                        return read.mismatch(data);
                    }
                });
        var _ = Thread.ofVirtual().start(mismatch);
        assertThat(mismatch.get()).isEqualTo(-1);
    }

    private static void writeAndRead(Drive drive, int number) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var data = arena.allocate(50L * BYTES).fill((byte) number);
            var read = arena.allocate(50L * BYTES);
            for (var i = 0; i < 5; i++) {
                drive.write(number * 80L, data);
                drive.read(number * 80L, read);
                assertThat(read.mismatch(data)).isEqualTo(-1);
            }
        }
    }
}
