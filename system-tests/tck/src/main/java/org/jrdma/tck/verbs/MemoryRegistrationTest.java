package org.jrdma.tck.verbs;

import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.FutureTask;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the registration of memory from the SDK's arenas and from other sources, and the rejection
 * of invalid registrations.
 */
class MemoryRegistrationTest {

    private final Fabric fabric = Fabric.underTest();
    private Device device;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws VerbsException {
        device = fabric.open();
        domain = device.newProtectionDomain();
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void shouldAllocateZeroedRegionsThatAreAlignedToPages() throws VerbsException {
        try (var memory = domain.newArena(LOCAL_WRITE)) {
            for (var length : new long[] {1, 100, 4096, 4097, 1 << 20}) {
                var region = memory.region(length);
                assertThat(region.length()).isEqualTo(length);
                assertThat(region.segment().address() % 4096).isZero();
                assertThat(region.segment().mismatch(MemorySegment.ofArray(new byte[(int) length])))
                        .isEqualTo(-1);
                assertThat(region.access()).containsExactly(LOCAL_WRITE);
            }
        }
    }

    @Test
    void shouldDescribeARegionToPeers() throws VerbsException {
        try (var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE)) {
            var region = memory.region(5000);

            assertThat(region.remote().address()).isEqualTo(region.segment().address());
            assertThat(region.remote().key()).isEqualTo(region.remoteKey());
            assertThat(region.remote().length()).isEqualTo(5000);
        }
    }

    @Test
    void shouldAssignDifferentKeysToRegions() throws VerbsException {
        try (var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE)) {
            var first = memory.region(64);
            var second = memory.region(64);

            assertThat(second.localKey()).isNotEqualTo(first.localKey());
            assertThat(second.remoteKey()).isNotEqualTo(first.remoteKey());
        }
    }

    @Test
    void shouldRejectAnEmptyRegion() throws VerbsException {
        try (var memory = domain.newArena(LOCAL_WRITE)) {
            assertThatThrownBy(() -> memory.region(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> memory.region(-1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> domain.register(ByteBuffer.allocateDirect(0), LOCAL_WRITE))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldShareARegistrationAmongSmallAllocations() throws VerbsException {
        try (var memory = domain.newArena(LOCAL_WRITE)) {
            var first = memory.allocate(100, 8);
            var second = memory.allocate(100, 64);
            var large = memory.allocate(3 << 20, 8);

            assertThat(second.address() % 64).isZero();
            assertThat(memory.slice(second).region()).isSameAs(memory.slice(first).region());
            assertThat(memory.slice(large).region()).isNotSameAs(memory.slice(first).region());
            assertThat(memory.slice(second.asSlice(10, 20)).segment().address())
                    .isEqualTo(second.address() + 10);
            assertThat(memory.slice(second.asSlice(10, 20)).length()).isEqualTo(20);
        }
    }

    @Test
    void shouldAlignAllocationsToMoreThanAPage() throws VerbsException {
        try (var memory = domain.newArena(LOCAL_WRITE)) {
            memory.allocate(1);
            var piece = memory.allocate(1 << 16, 1 << 16);

            assertThat(piece.address() % (1 << 16)).isZero();
            assertThat(memory.slice(piece).segment().address()).isEqualTo(piece.address());
        }
    }

    @Test
    void shouldRejectASliceOutsideItsMemory() throws VerbsException {
        try (var memory = domain.newArena(LOCAL_WRITE);
                var other = domain.newArena(LOCAL_WRITE);
                var foreign = Arena.ofConfined()) {
            var own = memory.allocate(64);
            var others = other.allocate(64);

            assertThat(memory.slice(own).length()).isEqualTo(64);
            assertThatThrownBy(() -> memory.slice(others))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> memory.slice(foreign.allocate(64)))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> memory.slice(MemorySegment.ofArray(new byte[64])))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldRefuseSlicesBeyondARegion() throws VerbsException {
        try (var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE)) {
            var region = memory.region(100);

            assertThat(region.slice(60, 40).slice(10, 30).segment().address())
                    .isEqualTo(region.segment().address() + 70);
            assertThatThrownBy(() -> region.slice(61, 40))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> region.slice(-1, 4))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> region.slice(60, 40).slice(10, 31))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> region.remote().slice(60, 41))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void shouldMakeSegmentsInaccessibleWhenTheArenaIsClosed() throws VerbsException {
        var memory = domain.newArena(LOCAL_WRITE);
        var region = memory.region(64);
        var piece = memory.allocate(64);
        assertThat(memory.scope().isAlive()).isTrue();

        memory.close();

        assertThat(memory.scope().isAlive()).isFalse();
        assertThatThrownBy(() -> region.segment().get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> piece.get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> memory.region(64))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("arena")
                .hasMessageContaining("closed");
    }

    @Test
    void shouldRegisterADirectBufferFromItsPositionToItsLimit() throws VerbsException {
        var buffer = ByteBuffer.allocateDirect(1000).position(100).limit(300);

        try (var region = domain.register(buffer, LOCAL_WRITE, REMOTE_READ)) {
            assertThat(region.length()).isEqualTo(200);
            assertThat(region.segment().address())
                    .isEqualTo(MemorySegment.ofBuffer(buffer).address());
            buffer.put(100, (byte) 42);
            assertThat(region.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 42);
        }
        assertThat(buffer.get(100)).isEqualTo((byte) 42);
    }

    @Test
    void shouldRejectHeapAndReadOnlyBuffers() {
        assertThatThrownBy(() -> domain.register(ByteBuffer.allocate(64), LOCAL_WRITE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("direct");
        assertThatThrownBy(() ->
                        domain.register(
                                ByteBuffer.allocateDirect(64).asReadOnlyBuffer(), LOCAL_WRITE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("read-only");
        assertThatThrownBy(() ->
                        domain.registerUnguarded(MemorySegment.ofArray(new byte[64]), LOCAL_WRITE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("heap");
    }

    @Test
    void shouldRegisterForeignMemoryWithoutOwningIt() throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var segment = arena.allocate(256);
            try (var region = domain.registerUnguarded(segment, LOCAL_WRITE)) {
                assertThat(region.segment()).isEqualTo(segment);
            }
            segment.fill((byte) 1);
        }
    }

    /**
     * Only the virtual thread may access its confined memory, but the registration may run on
     * another thread.
     */
    @Test
    void shouldRegisterConfinedMemoryOfAVirtualThread() throws Exception {
        var registering =
                new FutureTask<Void>(() -> {
                    try (var arena = Arena.ofConfined();
                            var region =
                                    domain.registerUnguarded(arena.allocate(4096), LOCAL_WRITE)) {
                        assertThat(region.length()).isEqualTo(4096);
                    }
                    return null;
                });
        Thread.startVirtualThread(registering);
        registering.get();
    }

    @Test
    void shouldRejectMemoryThatIsNotMapped() {
        var unmapped = MemorySegment.ofAddress(4096).reinterpret(4096);

        assertThatThrownBy(() -> domain.registerUnguarded(unmapped, LOCAL_WRITE))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_reg_mr")
                .hasMessageContaining("EFAULT")
                .hasMessageContaining("not mapped");
    }

    @ParameterizedTest
    @EnumSource(
            value = Access.class,
            names = {"LOCAL_WRITE", "REMOTE_READ", "MEMORY_WINDOW_BIND", "RELAXED_ORDERING"})
    void shouldGrantASingleRight(Access right) throws VerbsException {
        try (var memory = domain.newArena(right)) {
            assertThat(memory.region(4096).access()).isEqualTo(Set.of(right));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Access.class,
            names = {"REMOTE_WRITE", "REMOTE_ATOMIC"})
    void shouldRejectRemoteChangesWithoutLocalWriteAndNameTheMissingRight(Access right)
            throws VerbsException {
        assertThatThrownBy(() -> domain.newArena(right).region(4096))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_reg_mr")
                .hasMessageContaining("4,096 bytes")
                .hasMessageContaining(right.name())
                .hasMessageContaining("EINVAL")
                .hasMessageContaining("require LOCAL_WRITE");
        try (var memory = domain.newArena(LOCAL_WRITE, right)) {
            assertThat(memory.region(4096).access()).contains(right);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Access.class,
            names = {"ZERO_BASED", "HUGE_PAGES", "FLUSH_GLOBAL", "FLUSH_PERSISTENT"})
    void shouldGrantOptionalRightsOrNameThemInTheError(Access right) {
        var lacks = fabric.profile().lacksRight(right);

        try (var memory = domain.newArena(LOCAL_WRITE, right)) {
            var region = memory.region(4096);
            assertThat(lacks).as("the profile lists %s as missing", right).isFalse();
            assertThat(region.access()).contains(right);
        } catch (VerbsException e) {
            assertThat(lacks).as("the profile lists %s as missing: %s", right, e).isTrue();
            assertThat(e.function()).isEqualTo("ibv_reg_mr");
            assertThat(e.code()).isNotZero();
            assertThat(e).hasMessageContaining(right.name());
        }
    }

    /**
     * For example, rxe supports on-demand paging since Linux 6.15, and reports it as a capability.
     */
    @Test
    void shouldRegisterOnDemandOnlyIfTheDeviceSupportsIt() throws VerbsException {
        fabric.needs(Feature.EXTENDED_ATTRIBUTES);
        try (var memory = domain.newArena(LOCAL_WRITE, Access.ON_DEMAND)) {
            if (device.extendedAttributes().onDemand()) {
                assertThat(memory.region(4096).access()).contains(Access.ON_DEMAND);
            } else {
                assertThatThrownBy(() -> memory.region(4096))
                        .isInstanceOf(VerbsException.class)
                        .hasMessageContaining("ON_DEMAND");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldAcceptAdviceOnPagesWithoutChangingThem(PageAdvice advice) throws VerbsException {
        fabric.needs(Feature.ADVICE);
        try (var memory = domain.newArena(LOCAL_WRITE, Access.ON_DEMAND)) {
            var region = memory.region(1 << 20);
            region.segment().set(ValueLayout.JAVA_LONG, 8192, 42);

            domain.advise(advice, region.slice(), region.slice(8192, 100));
            domain.adviseAndWait(advice, region.slice());
            domain.advise(advice);

            assertThat(region.segment().get(ValueLayout.JAVA_LONG, 8192)).isEqualTo(42);
        }
    }

    @Test
    void shouldRejectAdviceForPinnedMemory() throws VerbsException {
        var pinned = domain.newArena(LOCAL_WRITE).region(4096);

        assertThatThrownBy(() -> domain.advise(PageAdvice.PREFETCH, pinned.slice()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not registered with ON_DEMAND");
    }

    @Test
    void shouldRejectWriteAdviceForReadOnlyMemoryOrAnotherDomain() throws VerbsException {
        fabric.needs(Feature.ADVICE);
        var readOnly = domain.newArena(Access.ON_DEMAND).region(4096);
        var other = device.newProtectionDomain();

        assertThatThrownBy(() -> domain.advise(PageAdvice.PREFETCH_FOR_WRITING, readOnly.slice()))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_advise_mr")
                .hasMessageContaining("EPERM");
        assertThatThrownBy(() -> other.advise(PageAdvice.PREFETCH, readOnly.slice()))
                .isInstanceOf(VerbsException.class);
        readOnly.close();
        assertThatThrownBy(() -> domain.advise(PageAdvice.PREFETCH, readOnly.slice()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void shouldRegisterMoreThanTwoGibibytes() throws VerbsException {
        fabric.needs(Feature.LARGE_REGIONS);
        var bytes = (2L << 30) + 4096;

        try (var memory = domain.newArena(LOCAL_WRITE)) {
            var region = memory.region(bytes);
            assertThat(region.length()).isEqualTo(bytes);
            assertThat(region.slice(bytes - 4096, 4096).length()).isEqualTo(4096);
            assertThatThrownBy(() -> region.slice(0, bytes))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("2 GiB");
        }
    }

    /** Maps a sparse file, whose pages use no memory until they are written. */
    @Test
    void shouldRegisterASegmentOfMoreThanTwoGibibytesAndWriteToItsEnd(@TempDir Path folder)
            throws Exception {
        fabric.needs(Feature.LARGE_REGIONS);
        var bytes = 3L << 30;
        try (var pair = Pair.connected();
                var arena = Arena.ofShared();
                var file = FileChannel.open(folder.resolve("file"), CREATE_NEW, READ, WRITE)) {
            var mapped = file.map(MapMode.READ_WRITE, 0, bytes, arena);
            try (var region = pair.right().domain().registerUnguarded(mapped, Pair.ALL)) {
                pair.left().fill(0x5A);

                var completion =
                        pair.left()
                                .complete(
                                        pair.left()
                                                .queuePair()
                                                .prepareWrite(
                                                        pair.left().region().slice(0, 64),
                                                        region.remote().at(bytes - 64)));

                assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
            }
            assertThat(mapped.asSlice(bytes - 64).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0x5A);
            assertThat(mapped.asSlice(bytes - 128, 64).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(0);
        }
    }

    @Test
    void shouldReadIntoABufferOfAPoolAndReuseIt() throws Exception {
        try (var pair = Pair.connected();
                var pool = pair.left().domain().newBufferPool(1 << 20, LOCAL_WRITE)) {
            for (var value = 1; value <= 3; value++) {
                pair.right().fill(value);
                var buffer = pool.tryTake(100);

                var completion =
                        pair.left()
                                .complete(
                                        pair.left()
                                                .queuePair()
                                                .prepareRead(
                                                        buffer.slice(10, 80),
                                                        pair.right().region().remote()));

                assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
                assertThat(buffer.segment().asSlice(10, 80).toArray(ValueLayout.JAVA_BYTE))
                        .containsOnly(value);
                assertThat(buffer.release()).isTrue();
            }
            assertThat(pool.statistics().registrations()).isEqualTo(1);
            assertThat(pool.statistics().usedBuffers()).isZero();
        }
    }

    private static Path fileOfSevens(Path folder) throws IOException {
        var bytes = new byte[10_000];
        Arrays.fill(bytes, (byte) 7);
        return Files.write(folder.resolve("file"), bytes);
    }

    /** The peer reads from an offset that is not a multiple of the page size. */
    @Test
    void shouldLetAPeerReadAMappedFileThatWasClosedAndDeleted(@TempDir Path folder)
            throws Exception {
        var path = fileOfSevens(folder);
        try (var pair = Pair.connected()) {
            MemoryRegion region;
            try (var file = FileChannel.open(path, READ)) {
                region = pair.right().domain().registerMapped(file, 5001, 4000, REMOTE_READ);
            }
            Files.delete(path);
            assertThat(region.length()).isEqualTo(4000);
            assertThat(region.segment().isReadOnly()).isTrue();
            pair.left().fill(1);

            var completion =
                    pair.left()
                            .complete(
                                    pair.left()
                                            .queuePair()
                                            .prepareRead(
                                                    pair.left().region().slice(0, 100),
                                                    region.remote().at(3900)));

            assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(pair.left().bytes(0, 100)).containsOnly(7);
            assertThat(pair.left().bytes(100, 1)).containsOnly(1);
            var segment = region.segment();
            region.close();
            assertThatThrownBy(() -> segment.get(ValueLayout.JAVA_BYTE, 0))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldLetAPeerWriteToAMappedFile(@TempDir Path folder) throws Exception {
        var path = fileOfSevens(folder);
        try (var pair = Pair.connected();
                var file = FileChannel.open(path, READ, WRITE);
                var region =
                        pair.right()
                                .domain()
                                .registerMapped(file, 4096, 4096, LOCAL_WRITE, REMOTE_WRITE)) {
            pair.left().fill(1);

            var completion =
                    pair.left()
                            .complete(
                                    pair.left()
                                            .queuePair()
                                            .prepareWrite(
                                                    pair.left().region().slice(0, 100),
                                                    region.remote()));

            assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        }
        var bytes = Files.readAllBytes(path);
        assertThat(bytes).hasSize(10_000);
        assertThat(Arrays.copyOfRange(bytes, 4096, 4196)).containsOnly(1);
        assertThat(Arrays.copyOfRange(bytes, 0, 4096)).containsOnly(7);
        assertThat(Arrays.copyOfRange(bytes, 4196, 10_000)).containsOnly(7);
    }

    @Test
    void shouldUnmapAFileWhenItsDomainIsClosed(@TempDir Path folder) throws Exception {
        var other = device.newProtectionDomain();
        MemorySegment segment;
        try (var file = FileChannel.open(fileOfSevens(folder), READ)) {
            segment = other.registerMapped(file, 0, 10_000, REMOTE_READ).segment();
        }
        assertThat(mappings(folder)).isEqualTo(1);

        other.close();

        assertThat(segment.scope().isAlive()).isFalse();
        assertThat(mappings(folder)).isZero();
    }

    /** Returns how many mappings of files in a folder this process has. */
    private static long mappings(Path folder) throws IOException {
        try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains(folder.toString())).count();
        }
    }

    @Test
    void shouldRejectAPartThatIsNotWithinTheFileAndNotExtendTheFile(@TempDir Path folder)
            throws Exception {
        var path = fileOfSevens(folder);
        try (var file = FileChannel.open(path, READ, WRITE)) {
            for (var part : new long[][] {{0, 10_001}, {9_999, 2}, {-1, 10}, {0, -1}}) {
                assertThatThrownBy(() -> domain.registerMapped(file, part[0], part[1], REMOTE_READ))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            assertThatThrownBy(() -> domain.registerMapped(file, 0, 0, REMOTE_READ))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("at least one byte");
        }
        assertThat(Files.size(path)).isEqualTo(10_000);
        assertThat(mappings(folder)).isZero();
    }

    @Test
    void shouldRejectAFileThatIsNotOpenForTheMapping(@TempDir Path folder) throws Exception {
        var path = fileOfSevens(folder);
        try (var readable = FileChannel.open(path, READ);
                var writable = FileChannel.open(path, WRITE)) {
            assertThatThrownBy(() -> domain.registerMapped(writable, 0, 64, REMOTE_READ))
                    .isInstanceOf(NonReadableChannelException.class);
            assertThatThrownBy(() -> domain.registerMapped(readable, 0, 64, LOCAL_WRITE))
                    .isInstanceOf(NonWritableChannelException.class);
        }
    }

    @Test
    void shouldUnmapAFileIfTheRegistrationFails(@TempDir Path folder) throws Exception {
        try (var file = FileChannel.open(fileOfSevens(folder), READ)) {
            assertThatThrownBy(() -> domain.registerMapped(file, 0, 64, REMOTE_WRITE))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("require LOCAL_WRITE");
            domain.close();
            assertThatThrownBy(() -> domain.registerMapped(file, 0, 64, REMOTE_READ))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
        }
        assertThat(mappings(folder)).isZero();
    }
}
