package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jrdma.ffi.CExpressions;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LinuxCallsTest {

    private static final Map<String, String> COMBINATIONS =
            Map.of(
                    "PROT_READ_WRITE", "PROT_READ | PROT_WRITE",
                    "MAP_PRIVATE_ANONYMOUS", "MAP_PRIVATE | MAP_ANONYMOUS");

    @Nested
    class ComparedWithTheCompiler {

        @TempDir private Path folder;

        @Test
        void shouldHaveTheConstantsOfC() throws Exception {
            var constants = new HashMap<String, Long>();
            for (var field : LinuxCalls.class.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType().isPrimitive()) {
                    field.setAccessible(true);
                    constants.put(
                            COMBINATIONS.getOrDefault(field.getName(), field.getName()),
                            ((Number) field.get(null)).longValue());
                }
            }

            var valuesInC =
                    CExpressions.evaluate(
                            folder,
                            List.of("fcntl.h", "sys/epoll.h", "sys/eventfd.h", "sys/mman.h"),
                            constants.keySet());

            assertThat(constants)
                    .containsKeys("EPOLLIN", "O_NONBLOCK", "MAP_HUGETLB", "PROT_READ | PROT_WRITE")
                    .isEqualTo(valuesInC);
        }

        @Test
        void shouldHaveTheEpollEventLayoutOfC() throws Exception {
            var size = "sizeof(struct epoll_event)";
            var events = "offsetof(struct epoll_event, events)";
            var data = "offsetof(struct epoll_event, data)";
            var valuesInC =
                    CExpressions.evaluate(
                            folder,
                            List.of("stddef.h", "sys/epoll.h"),
                            List.of(size, events, data));

            try (var arena = Arena.ofConfined()) {
                var event = arena.allocate(LinuxCalls.EpollEvent.BYTES);
                LinuxCalls.EpollEvent.set(event, 0x1122_3344, 0x5566_7788_99aa_bbccL);

                assertThat(event.byteSize()).isEqualTo(valuesInC.get(size));
                assertThat(event.get(ValueLayout.JAVA_INT_UNALIGNED, valuesInC.get(events)))
                        .isEqualTo(0x1122_3344);
                assertThat(event.get(ValueLayout.JAVA_LONG_UNALIGNED, valuesInC.get(data)))
                        .isEqualTo(0x5566_7788_99aa_bbccL);
            }
        }
    }

    @Test
    void shouldReturnTheDataOfEachEpollEvent() {
        try (var arena = Arena.ofConfined()) {
            var events = arena.allocate(3 * LinuxCalls.EpollEvent.BYTES);
            for (var i = 0; i < 3; i++) {
                LinuxCalls.EpollEvent.set(
                        events.asSlice(
                                i * LinuxCalls.EpollEvent.BYTES, LinuxCalls.EpollEvent.BYTES),
                        -1,
                        ~i);
            }

            for (var i = 0; i < 3; i++) {
                assertThat(LinuxCalls.EpollEvent.data(events, i)).isEqualTo(~i);
            }
        }
    }

    @Test
    void shouldMakeADescriptorNonBlocking() throws Exception {
        var ends = TestDescriptors.pipe();

        LinuxCalls.setNonBlocking(ends[0]);

        assertThat(TestDescriptors.drain(ends[0])).isFalse();
        TestDescriptors.signal(ends[1]);
        assertThat(TestDescriptors.drain(ends[0])).isTrue();
        Arrays.stream(ends).forEach(TestDescriptors::close);
    }

    @Test
    void shouldNameTheFailedSystemCall() {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> LinuxCalls.setNonBlocking(-1))
                .withMessage("fcntl F_GETFL for descriptor -1 failed: EBADF (9)")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EBADF));
    }

    @Test
    void shouldReturnThePageSize() {
        assertThat(Long.bitCount(LinuxCalls.pageBytes())).isEqualTo(1);
        assertThat(LinuxCalls.pageBytes()).isGreaterThanOrEqualTo(4096);
    }

    @Test
    void shouldMapMoreZeroedMemoryThanTheJvmMayAllocate() throws Exception {
        try (var arena = Arena.ofShared()) {
            var bytes = Runtime.getRuntime().maxMemory() + 1;
            var memory = LinuxCalls.mapPages(bytes, arena);

            assertThat(memory.byteSize()).isEqualTo(bytes);
            assertThat(memory.address() % LinuxCalls.pageBytes()).isZero();
            assertThat(memory.get(ValueLayout.JAVA_BYTE, bytes - 1)).isZero();
            memory.set(ValueLayout.JAVA_BYTE, bytes - 1, (byte) 1);
        }
    }

    @Test
    void shouldReadWriteAndMapAFile(@TempDir Path folder) throws Exception {
        var path = Files.write(folder.resolve("file"), new byte[8192]);
        try (var arena = Arena.ofConfined();
                var file = OpenFile.forWriting(path)) {
            var data = arena.allocate(ValueLayout.JAVA_LONG);
            data.set(ValueLayout.JAVA_LONG, 0, 0x1122_3344_5566_7788L);
            assertThat(LinuxCalls.writeAt(file.number(), data, 4096)).isEqualTo(8);

            var memory = LinuxCalls.mapFile(file.number(), 4096, 4096, arena);

            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x1122_3344_5566_7788L);
            memory.set(ValueLayout.JAVA_LONG, 0, 42);
            assertThat(LinuxCalls.readAt(file.number(), data, 4096)).isEqualTo(8);
            assertThat(data.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
            assertThat(LinuxCalls.readAt(file.number(), data, 8192)).isZero();
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> LinuxCalls.writeAt(file.number(), data, -1))
                    .withMessage("pwrite of 8 bytes at offset -1 failed: EINVAL (22)");
        }
    }

    @Test
    void shouldExecuteCommandsOfDeviceDrivers() throws Exception {
        var ends = TestDescriptors.pipe();
        TestDescriptors.signal(ends[1]);
        try (var arena = Arena.ofConfined()) {
            var available = arena.allocate(ValueLayout.JAVA_INT);
            assertThat(LinuxCalls.controlDevice(ends[0], "FIONREAD", 0x541b, available)).isZero();
            assertThat(available.get(ValueLayout.JAVA_INT, 0)).isPositive();
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> LinuxCalls.controlDevice(-1, "FIONREAD", 0x541b, available))
                    .withMessage("ioctl FIONREAD failed: EBADF (9)");
        }
        Arrays.stream(ends).forEach(TestDescriptors::close);
    }

    @Test
    void shouldMapHugePagesOrReportTheNumberOfBytes() {
        try (var arena = Arena.ofConfined()) {
            var memory = LinuxCalls.mapHugePages(4096, arena);

            assertThat(memory.byteSize()).isEqualTo(4096);
            assertThat(memory.address() % (1 << 21)).isZero();
            assertThat(memory.get(ValueLayout.JAVA_LONG, 4088)).isZero();
        } catch (FabricException e) {
            assertThat(e)
                    .hasMessageMatching(
                            "mmap of [0-9,]+ bytes in pages of [0-9,]+ failed: ENOMEM \\(12\\)|This kernel does not support huge pages");
        }
    }
}
