package org.jrdma.tck.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.memory.DeviceMemory;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.PageAdvice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests memory that is shared with other processes or devices, or that consists of several parts.
 */
class SharedMemoryTest {

    @RegisterExtension private final Recorder recorder = Recorder.begin();

    @Test
    void shouldRegisterAPartOfADmaBuf() throws Exception {
        recorder.answer("lkey", 0xaaaa_0001L);
        recorder.answer("rkey", 0xbbbb_0002L);
        try (var side = RecordingDeviceFixture.on(recorder.open())) {
            recorder.calls();

            var region =
                    side.domain()
                            .registerDmaBuf(
                                    17,
                                    0x3000,
                                    8192,
                                    0x7000_0000_1000L,
                                    Access.LOCAL_WRITE,
                                    Access.REMOTE_READ);

            assertThat(region.remote())
                    .isEqualTo(new RemoteMemory(0x7000_0000_1000L, 0xbbbb_0002, 8192));
            assertThat(region.segment().byteSize()).isZero();
            assertThat(region.localKey()).isEqualTo(0xaaaa_0001);
            region.close();
            region.close();
            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_reg_dmabuf_mr pd=pd1 offset=0x3000 length=8192 iova=0x700000001000 fd=17 access=0x5",
                            "ibv_dereg_mr mr=mr1");
        }
    }

    @Test
    void shouldUseTheVirtualAddressesOfADmaBufInRequests() throws Exception {
        try (var side = RecordingDeviceFixture.on(recorder.open())) {
            var region = side.domain().registerDmaBuf(3, 0, 4096, 0x10_0000, Access.LOCAL_WRITE);
            side.queuePair().connect(side.queuePair().endpoint());
            recorder.calls();

            var send = side.queuePair().prepareSend(region.slice(1024, 512));
            assertThat(send.tryPost()).isTrue();
            var write =
                    side.queuePair()
                            .prepareWrite(region.slice(0, 16), new RemoteMemory(0x5000, 7, 16));
            assertThat(write.tryPost()).isTrue();

            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_post_send qp=qp1 opcode=2 send_flags=0x2 {addr=0x100400 length=512 lkey=0x11}",
                            "ibv_post_send qp=qp1 opcode=0 send_flags=0x2 remote_addr=0x5000 rkey=0x7 {addr=0x100000 length=16 lkey=0x11}");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> send.inline(true))
                    .withMessageContaining("is its virtual address");
        }
    }

    @Test
    void shouldSendInlineOnlyFromMappedMemory() throws Exception {
        try (var device = recorder.open();
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(Access.LOCAL_WRITE);
                var completions = device.newCompletionDispatcher(16);
                var queuePair = domain.newQueuePair(reliable(completions).inlineBytes(64))) {
            queuePair.connect(queuePair.endpoint());
            var mapped = memory.region(4096);
            var unmapped = domain.registerDmaBuf(3, 0, 4096, 0x10_0000);
            recorder.calls();

            queuePair.send(mapped.slice(0, 64));
            queuePair.send(unmapped.slice(0, 64));

            assertThat(recorder.calls())
                    .map(call -> call.replaceFirst(".*send_flags=(\\S+) .*", "$1"))
                    .containsExactly("0xa", "0x2");
        }
    }

    @Test
    void shouldReportThatADmaBufIsRejectedOrNotSupported() throws Exception {
        try (var side = RecordingDeviceFixture.on(recorder.open())) {
            recorder.fail("ibv_reg_dmabuf_mr", Errno.EINVAL);
            assertFails(Errno.EINVAL, () -> side.domain().registerDmaBuf(-1, 0, 4096, 0));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> side.domain().registerDmaBuf(3, 0, 0, 0));
        }
        var older = recorder.verbsWithout("ibv_reg_dmabuf_mr");
        try (var side = RecordingDeviceFixture.on(older.open("recording0"))) {
            assertFails(Errno.EOPNOTSUPP, () -> side.domain().registerDmaBuf(3, 0, 4096, 0));
        }
    }

    @Test
    void shouldRegisterTheWholeAddressSpace() throws Exception {
        try (var side = RecordingDeviceFixture.on(recorder.open());
                var arena = Arena.ofConfined()) {
            var everything = side.domain().registerAddressSpaceUnguarded(Access.LOCAL_WRITE);
            side.queuePair().connect(side.queuePair().endpoint());
            var text = arena.allocateFrom("somewhere");
            side.queuePair()
                    .prepareSend(everything.slice(text.address(), text.byteSize()))
                    .tryPost();

            assertThat(everything.access())
                    .containsExactlyInAnyOrder(Access.LOCAL_WRITE, Access.ON_DEMAND);
            assertThat(recorder.calls())
                    .contains(
                            "ibv_reg_mr pd=pd1 addr=(nil) length=18446744073709551615 access=0x41",
                            "ibv_post_send qp=qp1 opcode=2 send_flags=0x2 {addr=0x%x length=10 lkey=0x11}"
                                    .formatted(text.address()));
            recorder.fail("ibv_reg_mr", Errno.EOPNOTSUPP);
            assertFails(Errno.EOPNOTSUPP, () -> side.domain().registerAddressSpaceUnguarded());
        }
    }

    @Test
    void shouldUseImportedObjectsWithoutDestroyingTheOriginals() throws Exception {
        recorder.answer("imported_length", 1 << 20);
        try (var original = recorder.open();
                var domain = original.newProtectionDomain();
                var memory = domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE)) {
            var region = memory.region(4096);
            recorder.calls();

            var imported = recorder.verbs().importDevice(original.commandDescriptor());
            var importedDomain = imported.importProtectionDomain(domain.handle());
            var importedRegion =
                    importedDomain.importRegion(
                            region.handle(), region.startAddress(), Access.REMOTE_WRITE);

            assertThat(imported.name()).isEqualTo("recording0");
            assertThat(importedRegion.length()).isEqualTo(1 << 20);
            assertThat(importedRegion.remote().address()).isEqualTo(region.startAddress());
            assertThat(importedRegion.segment().byteSize()).isZero();
            imported.close();
            assertThat(descriptor(original.commandDescriptor())).exists();
            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_import_device file=/dev/null fd_flags=1",
                            "ibv_import_pd context=device2 pd_handle=1000",
                            "ibv_import_mr pd=pd2 mr_handle=2000",
                            "ibv_unimport_mr mr=mr2",
                            "ibv_unimport_pd pd=pd2",
                            "ibv_close_device context=device2");
            assertThatIllegalStateException().isThrownBy(importedDomain::handle);
            assertThatIllegalStateException().isThrownBy(importedRegion::handle);
        }
    }

    @Test
    void shouldAdviseOnRangesOfTheWholeAddressSpace() throws Exception {
        try (var side = RecordingDeviceFixture.on(recorder.open())) {
            var everything = side.domain().registerAddressSpaceUnguarded(Access.LOCAL_WRITE);
            recorder.calls();

            side.domain().advise(PageAdvice.PREFETCH, everything.slice(0x7000_0000_1000L, 8192));
            side.domain()
                    .adviseAndWait(
                            PageAdvice.PREFETCH_FOR_WRITING,
                            everything.slice(0x1000, 1),
                            everything.slice(0x3000, 2));

            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_advise_mr pd=pd1 advice=0 flags=0x0 num_sge=1 {addr=0x700000001000 length=8192 lkey=0x11}",
                            "ibv_advise_mr pd=pd1 advice=1 flags=0x1 num_sge=2 {addr=0x1000 length=1 lkey=0x11} {addr=0x3000 length=2 lkey=0x11}");
        }
    }

    @Test
    void shouldShareMemoryOfTheDeviceWithOtherProcessesAndDevices() throws Exception {
        try (var device = recorder.open();
                var memory = device.newDeviceMemory(4096, 64);
                var imported = recorder.verbs().importDevice(device.commandDescriptor());
                var domain = imported.newProtectionDomain()) {
            recorder.calls();

            var importedMemory = imported.importDeviceMemory(memory.handle(), memory.length());
            var region =
                    domain.registerDeviceMemory(importedMemory, 1024, 2048, Access.LOCAL_WRITE);
            memory.exportDmaBuf().close();
            assertThat(region.remote().address()).isZero();
            importedMemory.close();

            assertThat(recorder.calls())
                    .containsExactly(
                            "ibv_import_dm context=device2 dm_handle=3000",
                            "ibv_reg_dm_mr pd=pd1 dm=dm2 dm_offset=1024 length=2048 access=0x21",
                            "ibv_dm_export_dmabuf_fd dm=dm1",
                            "ibv_dereg_mr mr=mr1",
                            "ibv_unimport_dm dm=dm2");
            recorder.fail("ibv_import_dm", Errno.EINVAL);
            assertFails(Errno.EINVAL, () -> imported.importDeviceMemory(1, 4096));
            recorder.fail("ibv_dm_export_dmabuf_fd", Errno.EMFILE);
            assertFails(Errno.EMFILE, memory::exportDmaBuf);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> imported.importDeviceMemory(1, 0));
        }
        var older = recorder.verbsWithout("ibv_import_dm", "ibv_dm_export_dmabuf_fd");
        try (var device = older.open("recording0");
                var memory = device.newDeviceMemory(4096, 1)) {
            assertFails(Errno.EOPNOTSUPP, () -> device.importDeviceMemory(1, 4096));
            assertFails(Errno.EOPNOTSUPP, memory::exportDmaBuf);
        }
    }

    @Test
    void shouldReportThatImportsAreNotSupported() throws Exception {
        assertFails(Errno.EBADF, () -> recorder.verbs().importDevice(-1));
        assertThat(recorder.calls()).isEmpty();
        try (var original = recorder.open()) {
            var descriptor = original.commandDescriptor();
            recorder.fail("ibv_import_device", Errno.EINVAL);
            assertFails(Errno.EINVAL, () -> recorder.verbs().importDevice(descriptor));
            assertThat(descriptor(descriptor)).exists();
        }
        try (var device = recorder.open();
                var domain = device.newProtectionDomain()) {
            recorder.fail("ibv_import_pd", Errno.EOPNOTSUPP);
            assertFails(Errno.EOPNOTSUPP, () -> device.importProtectionDomain(1));
            recorder.fail("ibv_import_mr", Errno.EOPNOTSUPP);
            assertFails(Errno.EOPNOTSUPP, () -> domain.importRegion(1, 0));
        }
        var older = recorder.verbsWithout("ibv_import_device", "ibv_import_pd", "ibv_import_mr");
        assertFails(Errno.EOPNOTSUPP, () -> older.importDevice(5));
        try (var device = older.open("recording0");
                var domain = device.newProtectionDomain()) {
            assertFails(Errno.EOPNOTSUPP, () -> device.importProtectionDomain(1));
            assertFails(Errno.EOPNOTSUPP, () -> domain.importRegion(1, 0));
        }
    }

    /** Calls a function that registers or imports memory. */
    interface Registration {
        Object by(ProtectionDomain domain, RegisteredArena arena, DeviceMemory memory)
                throws VerbsException;
    }

    private static Stream<Named<Registration>> registrations() {
        return Stream.of(
                Named.of("region of an arena", (_, arena, _) -> arena.region(4096)),
                Named.of("null region", (domain, _, _) -> domain.newNullRegion()),
                Named.of(
                        "whole address space",
                        (domain, _, _) -> domain.registerAddressSpaceUnguarded()),
                Named.of("dma-buf", (domain, _, _) -> domain.registerDmaBuf(3, 0, 1, 0)),
                Named.of(
                        "device memory",
                        (domain, _, memory) -> domain.registerDeviceMemory(memory, 0, 4096)),
                Named.of("imported region", (domain, _, _) -> domain.importRegion(1, 0)));
    }

    @ParameterizedTest
    @MethodSource("registrations")
    void shouldDeregisterARegionWithAMisalignedStructure(Registration registration)
            throws Exception {
        try (var device = recorder.open()) {
            var domain = device.newProtectionDomain();
            var arena = domain.newArena();
            var memory = device.newDeviceMemory(4096);
            recorder.answer("mr_misplaced_by", 1);

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> registration.by(domain, arena, memory))
                    .withMessageContaining("alignment");
            assertThat(recorder.calls())
                    .last()
                    .asString()
                    .matches("ibv_(dereg|unimport)_mr mr=mr1");
            domain.close();
            assertThat(recorder.calls()).noneMatch(call -> call.contains("_mr "));
        }
    }

    @ParameterizedTest
    @MethodSource("registrations")
    void shouldRegisterOnAPlatformThread(Registration registration) throws Exception {
        try (var device = recorder.open();
                var domain = device.newProtectionDomain();
                var arena = domain.newArena();
                var memory = device.newDeviceMemory(4096)) {
            onVirtualThread(() -> registration.by(domain, arena, memory));

            assertThat(recorder.caller()).startsWith("jrdma-call-");
        }
    }

    @Test
    void shouldImportAndExportOnAPlatformThread() throws Exception {
        try (var original = recorder.open();
                var memory = original.newDeviceMemory(4096)) {
            var verbs = recorder.verbs();
            var imported = onVirtualThread(() -> verbs.importDevice(original.commandDescriptor()));
            assertThat(recorder.caller()).startsWith("jrdma-call-");
            imported.close();
            var opened = onVirtualThread(() -> verbs.open("recording0"));
            assertThat(recorder.caller()).startsWith("jrdma-call-");
            opened.close();
            onVirtualThread(memory::exportDmaBuf).close();
            assertThat(recorder.caller()).startsWith("jrdma-call-");
        }
    }

    private static <T> T onVirtualThread(Callable<T> call) throws Exception {
        var task = new FutureTask<>(call);
        Thread.startVirtualThread(task);
        return task.get();
    }

    @Test
    void shouldCloseTheDescriptorOfADmaBufImmediately() throws Exception {
        try (var device = recorder.open()) {
            var memory = device.newDeviceMemory(4096);
            var shared = memory.exportDmaBuf();
            var number = shared.descriptor();

            memory.close();
            assertThat(descriptor(number)).exists();
            shared.close();
            shared.close();

            assertThat(descriptor(number)).doesNotExist();
            assertThatIllegalStateException().isThrownBy(shared::descriptor);
        }
    }

    private static Path descriptor(int number) {
        return Path.of("/proc/self/fd", String.valueOf(number));
    }

    private static void assertFails(int errno, ThrowingCallable call) {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(call)
                .satisfies(e -> assertThat(e.code()).isEqualTo(errno));
    }
}
