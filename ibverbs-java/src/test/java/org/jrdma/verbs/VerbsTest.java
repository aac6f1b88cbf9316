package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.LibraryNameAndInstallation;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.internal.VerbsLibrary;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.DeviceOpenOption;
import org.jrdma.verbs.model.ForkStatus;
import org.jrdma.verbs.model.NodeType;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VerbsTest {

    @Test
    void shouldNameThePackagesOfALibraryThatIsNotInstalled() {
        var name = VerbsLibrary.NAME;
        var missing =
                new LibraryNameAndInstallation("libibverbs.so.4711", name.folders(), name.advice());

        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> NativeLibrary.open(missing))
                .withMessageContaining("libibverbs.so.4711 could not be opened")
                .withMessageContaining("apt install libibverbs1 ibverbs-providers")
                .withMessageContaining("dnf install libibverbs\"")
                .withMessageContaining("zypper install libibverbs1 libibverbs\"");
    }

    @Test
    void shouldRejectAMissingFile(@TempDir Path folder) {
        var file = folder.resolve("libibverbs.so.1");

        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> Verbs.load(file))
                .withMessageStartingWith(file + " could not be opened");
    }

    @Test
    void shouldRejectAnotherLibrary() {
        var file = Path.of(System.getProperty("java.home"), "lib", "libjava.so");

        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> Verbs.load(file))
                .withMessage(
                        "%s has no function ibv_get_device_list. It is too old, or it is a different library.",
                        file);
    }

    @Test
    void shouldHandleAMachineWithoutADevice() throws Exception {
        Verbs verbs;
        try {
            verbs = Verbs.system();
        } catch (LibraryNotFoundException e) {
            Assumptions.abort(e.getMessage()); // libibverbs is not installed.
            return;
        }
        Assumptions.assumeFalse(
                Files.isDirectory(Path.of("/sys/class/infiniband")), "there may be a device");

        assertThat(verbs.devices()).isEmpty();
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> verbs.open("rxe0"))
                .withMessageStartingWith(
                        "There is no RDMA device named rxe0. This machine has no RDMA device")
                .withMessageContaining("rdma link add rxe0 type rxe netdev eth0");
        assertThat(verbs).asString().contains("libibverbs.so.1");
        assertThat(Verbs.system()).isSameAs(verbs);
    }

    @Test
    void shouldListTheDevices() throws Exception {
        var verbs = Verbs.from(new FakeLibrary());

        assertThat(verbs.devices())
                .containsExactly(
                        new DeviceDescription(
                                "fake0",
                                "uverbs0",
                                OptionalInt.of(0),
                                0x5054_00ff_fe12_3456L,
                                NodeType.CHANNEL_ADAPTER,
                                TransportType.INFINIBAND));
        assertThat(verbs).hasToString("fake-verbs");
    }

    @Test
    void shouldReportTheAddressOfADeviceIfItHasOne() throws Exception {
        var library = new FakeLibrary();
        try (var device = Verbs.from(library).openFirst()) {
            assertThat(device.ipAddress()).contains(InetAddress.ofLiteral("10.77.0.1"));

            library.answer("_ibv_query_gid_table", 0L, 0);
            assertThat(device.ipAddress()).isEmpty();
        }
    }

    @Test
    void shouldFreeTheDeviceListIfOpeningFails() throws Exception {
        var library = new FakeLibrary().answer("ibv_open_device", MemorySegment.NULL, Errno.EIO);
        var verbs = Verbs.from(library);

        assertThatExceptionOfType(VerbsException.class).isThrownBy(() -> verbs.open("fake0"));

        assertThat(library.calls)
                .containsExactly(
                        "ibv_get_device_list",
                        "ibv_get_device_guid",
                        "ibv_get_device_index",
                        "ibv_open_device",
                        "ibv_free_device_list");
    }

    @Test
    void shouldListNoDevicesOnAMachineWithoutADevice() throws Exception {
        assertThat(Verbs.from(new FakeLibrary().withoutDevices()).devices()).isEmpty();
    }

    @Test
    void shouldListNoDevicesIfTheKernelDoesNotSupportRdma() throws Exception {
        var library =
                new FakeLibrary().answer("ibv_get_device_list", MemorySegment.NULL, Errno.ENOSYS);

        assertThat(Verbs.from(library).devices()).isEmpty();
    }

    @Test
    void shouldReportAFailureToListDevices() throws Exception {
        var verbs =
                Verbs.from(
                        new FakeLibrary()
                                .answer("ibv_get_device_list", MemorySegment.NULL, Errno.EPERM));

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(verbs::devices)
                .withMessage("ibv_get_device_list failed on this machine: EPERM (1).")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.EPERM))
                .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_get_device_list"));
    }

    @Test
    void shouldAdviseIfThereIsNoDevice() throws Exception {
        var verbs = Verbs.from(new FakeLibrary().withoutDevices());

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> verbs.open("mlx5_0"))
                .withMessageStartingWith(
                        "There is no RDMA device named mlx5_0. This machine has no RDMA device")
                .withMessageContaining("Load the driver of an adapter, create a software device")
                .withMessageContaining("\"rdma link add rxe0 type rxe netdev eth0\"");
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(verbs::openFirst)
                .withMessageStartingWith("This machine has no RDMA device")
                .withMessageContaining("\"rdma link add rxe0 type rxe netdev eth0\"");
    }

    @Test
    void shouldListTheDevicesIfTheRequestedOneDoesNotExist() throws Exception {
        var verbs = Verbs.from(new FakeLibrary());

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> verbs.open("mlx5_0"))
                .withMessage("There is no RDMA device named mlx5_0. Available devices: fake0.");
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EACCES, Errno.EPERM})
    void shouldAdviseIfDeviceFilesAreNotAccessible(int errno) throws Exception {
        var verbs =
                Verbs.from(new FakeLibrary().answer("ibv_open_device", MemorySegment.NULL, errno));

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> verbs.open("fake0"))
                .withMessageStartingWith(
                        "ibv_open_device failed for fake0: " + Errno.describe(errno))
                .withMessageContaining("no access to the files under /dev/infiniband");
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOENT, Errno.ENODEV, Errno.ENXIO})
    void shouldReportMissingDeviceFiles(int errno) throws Exception {
        var verbs =
                Verbs.from(new FakeLibrary().answer("ibv_open_device", MemorySegment.NULL, errno));

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(verbs::openFirst)
                .withMessageContaining(
                        "/dev/infiniband are missing. Load the kernel module ib_uverbs");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ibv_get_device_list",
                "ibv_reg_mr",
                "ibv_create_cq",
                "ibv_modify_qp",
                "ibv_ack_async_event"
            })
    void shouldRejectALibraryThatLacksARequiredFunction(String symbol) throws Exception {
        var library = new FakeLibrary().without(symbol);

        assertThatExceptionOfType(LibraryNotFoundException.class)
                .isThrownBy(() -> Verbs.from(library))
                .withMessage(
                        "fake-verbs has no function %s. It is too old, or it is a different library.",
                        symbol);
    }

    @Test
    void shouldRejectCriticalCallsOfASoftwareLibrary() throws Exception {
        var verbs = Verbs.from(new FakeLibrary());

        assertThatIllegalArgumentException()
                .isThrownBy(() -> verbs.open("fake0", DeviceOpenOption.CRITICAL_CALLS))
                .withMessageContaining("CRITICAL_CALLS cannot be used with fake-verbs");
    }

    @Test
    void shouldReportThatAnIwarpDeviceRequiresTheConnectionManager() throws Exception {
        var library = new FakeLibrary().transport(rdma_h.IBV_TRANSPORT_IWARP());
        try (var device = Verbs.from(library).open(FakeLibrary.DEVICE)) {
            var queuePair =
                    device.newProtectionDomain()
                            .newQueuePair(QueuePairOptions.reliable(device.newCompletionQueue(64)));

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> queuePair.connect(queuePair.endpoint()))
                    .withMessage(
                            "queue pair 0x001234 of fake0 cannot connect directly: iWARP devices connect only through rdma_cm.");

            assertThat(library.calls).doesNotContain("ibv_modify_qp");
        }
    }

    @Test
    void shouldReportWhetherForkIsSafe() throws Exception {
        assertThat(
                        Verbs.from(new FakeLibrary().answer("ibv_is_fork_initialized", 2, 0))
                                .forkStatus())
                .isEqualTo(ForkStatus.UNNEEDED);
        assertThat(
                        Verbs.from(new FakeLibrary().answer("ibv_is_fork_initialized", 7, 0))
                                .forkStatus())
                .isEqualTo(ForkStatus.UNKNOWN);
        assertThat(Verbs.from(new FakeLibrary().without("ibv_is_fork_initialized")).forkStatus())
                .isEqualTo(ForkStatus.UNKNOWN);
    }

    @Test
    void shouldListOpenDevices() throws Exception {
        var verbs = Verbs.from(new FakeLibrary());
        var otherVerbs = Verbs.from(new FakeLibrary());

        var first = verbs.open(FakeLibrary.DEVICE);
        var second = verbs.open(FakeLibrary.DEVICE);
        var domain = second.newProtectionDomain();

        assertThat(verbs.openDevices()).hasSize(2);
        assertThat(verbs.openDevices().getFirst().dependents()).isEmpty();
        assertThat(verbs.openDevices().getLast().dependents())
                .singleElement()
                .hasToString(domain.toString());
        assertThat(otherVerbs.openDevices()).isEmpty();
        first.close();
        assertThat(verbs.openDevices()).hasSize(1);
        second.close();
        assertThat(verbs.openDevices()).isEmpty();
    }
}
