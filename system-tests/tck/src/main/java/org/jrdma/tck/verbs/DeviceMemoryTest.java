package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.memory.DeviceMemory;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests device memory. */
class DeviceMemoryTest {

    private static final int BYTES = 4096;

    private final Fabric fabric = Fabric.underTest();

    private Pair pair() throws VerbsException {
        fabric.needs(Feature.DEVICE_MEMORY);
        return Pair.connected();
    }

    private static DeviceMemory memory(Side side) throws VerbsException {
        return side.domain().device().newDeviceMemory(BYTES, 64);
    }

    private static MemoryRegion region(Side side, DeviceMemory memory) throws VerbsException {
        return side.domain().registerDeviceMemory(memory, 0, BYTES, Pair.ALL);
    }

    private static MemorySegment times(int count, int value) {
        return MemorySegment.ofArray(Side.times(count, value));
    }

    private static byte[] bytes(DeviceMemory memory, long offset, int count) throws VerbsException {
        var bytes = new byte[count];
        memory.read(offset, MemorySegment.ofArray(bytes));
        return bytes;
    }

    private static void assertSuccess(Side side, PreparedRequest<?> request) throws VerbsException {
        assertThat(side.complete(request).status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    @Test
    void shouldContainTheBytesThatAreCopiedToIt() throws VerbsException {
        fabric.needs(Feature.DEVICE_MEMORY);
        try (var device = fabric.open();
                var memory = device.newDeviceMemory(BYTES);
                var arena = Arena.ofConfined()) {
            assertThat(device.extendedAttributes().deviceMemoryBytes()).isGreaterThan(BYTES);
            assertThat(memory.length()).isEqualTo(BYTES);
            memory.write(0, times(BYTES, 1));
            memory.write(64, arena.allocate(32).fill((byte) 2));

            var read = arena.allocate(128);
            memory.read(32, read);

            assertThat(read.asSlice(0, 32).toArray(ValueLayout.JAVA_BYTE)).containsOnly(1);
            assertThat(read.asSlice(32, 32).toArray(ValueLayout.JAVA_BYTE)).containsOnly(2);
            assertThat(bytes(memory, 96, BYTES - 96)).containsOnly(1);
        }
    }

    @Test
    void shouldBeWrittenAndReadByAPeer() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            var memory = memory(right);
            var remote = region(right, memory).remote();
            left.fill(3);
            right.post(right.queuePair().prepareReceive(right.region().slice(0, 8)));

            assertSuccess(
                    left,
                    left.queuePair()
                            .prepareWrite(left.region().slice(0, 1000), remote.slice(100, 1000))
                            .immediate(7));
            assertSuccess(
                    left,
                    left.queuePair()
                            .prepareRead(left.region().slice(2000, 100), remote.slice(1050, 100)));

            assertThat(right.next().immediate()).hasValue(7);
            assertThat(bytes(memory, 96, 4)).containsOnly(0);
            assertThat(bytes(memory, 100, 1000)).containsOnly(3);
            assertThat(left.bytes(2000, 50)).containsOnly(3);
            assertThat(left.bytes(2050, 50)).containsOnly(0);
        }
    }

    @Test
    void shouldBeSourceAndTargetOfMessages() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            var from = memory(left);
            var to = memory(right);
            from.write(0, times(BYTES, 4));

            right.post(right.queuePair().prepareReceive(region(right, to).slice(8, 2000)));
            assertSuccess(left, left.queuePair().prepareSend(region(left, from).slice(0, 2000)));

            assertThat(right.next().bytes()).isEqualTo(2000);
            assertThat(bytes(to, 0, 8)).containsOnly(0);
            assertThat(bytes(to, 8, 2000)).containsOnly(4);
            assertThat(bytes(to, 2008, 8)).containsOnly(0);
        }
    }

    @Test
    void shouldBeTargetOfAtomics() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var memory = memory(pair.right());
            var remote = region(pair.right(), memory).remote().slice(16, 8);
            var former = left.region().slice(0, 8);

            assertSuccess(left, left.queuePair().prepareFetchAndAdd(former, remote).delta(40));
            assertSuccess(
                    left, left.queuePair().prepareCompareAndSwap(former, remote).values(40, 42));

            assertThat(former.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(40);
            var value = MemorySegment.ofArray(new long[1]);
            memory.read(16, value);
            assertThat(value.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        }
    }

    /** Addresses in a region of device memory start at 0, not at an address in the process. */
    @Test
    void shouldBeRegisteredInParts() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var memory = memory(pair.right());
            var part = pair.right().domain().registerDeviceMemory(memory, 1024, 512, Pair.ALL);
            left.fill(5);

            assertThat(part.length()).isEqualTo(512);
            assertThat(part.startAddress()).isZero();
            assertThat(part.segment().byteSize()).isZero();
            assertSuccess(
                    left,
                    left.queuePair().prepareWrite(left.region().slice(0, 512), part.remote()));

            assertThat(bytes(memory, 1020, 4)).containsOnly(0);
            assertThat(bytes(memory, 1024, 512)).containsOnly(5);
            assertThat(bytes(memory, 1536, 4)).containsOnly(0);
        }
    }

    @Test
    void shouldRejectAWriteThroughARegionWithoutRemoteWrite() throws VerbsException {
        try (var pair = pair()) {
            var memory = memory(pair.right());
            var part =
                    pair.right()
                            .domain()
                            .registerDeviceMemory(memory, 0, 64, Access.LOCAL_WRITE)
                            .remote();
            var left = pair.left();

            assertThat(
                            left.complete(
                                            left.queuePair()
                                                    .prepareWrite(left.region().slice(0, 64), part))
                                    .status())
                    .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
            assertThat(bytes(memory, 0, 64)).containsOnly(0);
        }
    }

    @Test
    void shouldCloseItsRegionsWhenItIsClosed() throws VerbsException {
        try (var pair = pair()) {
            var memory = memory(pair.left());
            var region = region(pair.left(), memory);

            memory.close();

            assertThatThrownBy(region::address).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> memory.write(0, times(8, 1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("device memory");
            var send = pair.left().queuePair().prepareSend(region.slice(0, 8));
            assertThatThrownBy(send::tryPost).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldRejectAccessBeyondItsEnd() throws VerbsException {
        fabric.needs(Feature.DEVICE_MEMORY);
        try (var device = fabric.open();
                var domain = device.newProtectionDomain();
                var memory = device.newDeviceMemory(BYTES)) {
            assertThatThrownBy(() -> memory.write(BYTES - 4, times(8, 1)))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> memory.read(-8, times(8, 1)))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            var readOnly = MemorySegment.ofArray(new byte[8]).asReadOnly();
            assertThatThrownBy(() -> memory.read(0, readOnly))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> domain.registerDeviceMemory(memory, 8, BYTES))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> domain.registerDeviceMemory(memory, 0, 0))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldRejectFreedSegmentsAndThoseOfOtherThreads() throws Exception {
        fabric.needs(Feature.DEVICE_MEMORY);
        try (var device = fabric.open();
                var memory = device.newDeviceMemory(BYTES)) {
            var foreign =
                    CompletableFuture.supplyAsync(() -> Arena.ofConfined().allocate(64)).get();
            var arena = Arena.ofShared();
            var freed = arena.allocate(64);
            arena.close();

            assertThatThrownBy(() -> memory.write(0, freed))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("The memory segment is closed: ");
            assertThatThrownBy(() -> memory.read(0, freed))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("The memory segment is closed: ");
            assertThatThrownBy(() -> memory.read(0, foreign))
                    .isInstanceOf(WrongThreadException.class)
                    .hasMessageStartingWith("The memory segment belongs to another thread: ");
        }
    }

    @Test
    void shouldRejectRemoteWriteWithoutLocalWrite() throws VerbsException {
        fabric.needs(Feature.DEVICE_MEMORY);
        try (var device = fabric.open();
                var domain = device.newProtectionDomain();
                var memory = device.newDeviceMemory(BYTES)) {
            assertThatThrownBy(() ->
                            domain.registerDeviceMemory(memory, 0, BYTES, Access.REMOTE_WRITE))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_reg_dm_mr");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 3, 24})
    void shouldRejectAnAlignmentThatIsNotAPowerOfTwo(long alignment) throws VerbsException {
        fabric.needs(Feature.DEVICE_MEMORY);
        try (var device = fabric.open()) {
            assertThatThrownBy(() -> device.newDeviceMemory(BYTES, alignment))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldRefuseToBeReregistered() throws VerbsException {
        try (var pair = pair()) {
            var region = region(pair.left(), memory(pair.left()));
            assertThatThrownBy(() -> region.reregister(Access.LOCAL_WRITE))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void shouldBeFreedAndNotExceedTheMemoryOfTheDevice() throws VerbsException {
        fabric.needs(Feature.DEVICE_MEMORY);
        try (var device = fabric.open()) {
            var all = device.extendedAttributes().deviceMemoryBytes();
            assertThatThrownBy(() -> device.newDeviceMemory(all + 1))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_alloc_dm")
                    .hasMessageContaining("deviceMemoryBytes()");
            for (var round = 0; round < 4; round++) {
                device.newDeviceMemory(all / 2 + 1).close();
            }
        }
    }

    @Test
    void shouldReportThatItIsNotSupported() throws VerbsException {
        fabric.needsLackOf(Feature.DEVICE_MEMORY);
        try (var device = fabric.open()) {
            assertThatThrownBy(() -> device.newDeviceMemory(BYTES))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_alloc_dm")
                    .hasMessageEndingWith("The device has no allocatable memory.");
        }
    }
}
