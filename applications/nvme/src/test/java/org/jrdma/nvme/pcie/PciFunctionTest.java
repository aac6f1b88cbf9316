package org.jrdma.nvme.pcie;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.model.MappedRegisters;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests PCI functions with files in the place of sysfs. */
class PciFunctionTest {

    private static final String ADDRESS = "0000:00:05.0";

    @TempDir private Path sysfs;
    private Path folder;

    @BeforeEach
    void create() throws IOException {
        folder = Files.createDirectories(sysfs.resolve("bus/pci/devices").resolve(ADDRESS));
        Files.writeString(folder.resolve("class"), "0x010802\n");
        Files.writeString(folder.resolve("enable"), "0\n");
        Files.write(folder.resolve("config"), new byte[] {0, 0, 0, 0, 1, (byte) 0x80, 0, 0});
        Files.write(folder.resolve("resource0"), new byte[0x4000]);
    }

    private PciFunction find() throws FabricException {
        return PciFunction.of(sysfs, ADDRESS);
    }

    private void link(String name, String target) throws IOException {
        var path = Files.createDirectories(sysfs.resolve(target));
        Files.createSymbolicLink(folder.resolve(name), path);
    }

    @ParameterizedTest
    @ValueSource(strings = {"00:05.0", "0000:00:05.8", "0000:00:5.0", "../0000:00:05.0", ""})
    void shouldRejectMalformedAddresses(String address) {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> PciFunction.of(sysfs, address))
                .withMessageContaining("is not the address of a PCI function")
                .withMessageContaining("lspci -D -d ::0108");
    }

    @Test
    void shouldReportFunctionsThatDoNotExistOrAreNoController() throws Exception {
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> PciFunction.of(sysfs, "0000:00:06.0"))
                .withMessageContaining("This machine has no PCI function 0000:00:06.0.");
        Files.writeString(folder.resolve("class"), "0x020000\n");
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(this::find)
                .withMessage(
                        "PCI function 0000:00:05.0 is not an NVMe controller: its class is 0x020000 instead of 0x010802");
    }

    @Test
    void shouldExplainHowToReleaseAFunctionOfADriver() throws Exception {
        link("driver", "bus/pci/drivers/nvme");
        var function = find();
        assertThat(function.driver()).contains("nvme");
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(function::requirePhysicalAccess)
                .withMessage(
                        "PCI function 0000:00:05.0 belongs to the driver nvme. Unmount its file systems, and release it with: echo 0000:00:05.0 > /sys/bus/pci/drivers/nvme/unbind");
    }

    @Test
    void shouldExplainHowToUseVfioBehindAnIommu() throws Exception {
        link("iommu_group", "kernel/iommu_groups/7");
        var type = sysfs.resolve("kernel/iommu_groups/7/type");
        Files.writeString(type, "DMA-FQ\n");
        var function = find();
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(function::requirePhysicalAccess)
                .withMessageContaining(
                        "because an IOMMU translates them. Use VFIO: modprobe vfio-pci");
        Files.writeString(type, "identity\n");
        function.requirePhysicalAccess();
        assertThat(function.iommuGroup()).contains("7");
    }

    @Test
    void shouldEnableTheFunctionAndMapItsRegisters() throws Exception {
        var controller = PhysicalController.open(find());
        controller.registers().write(MappedRegisters.CONFIGURATION, 0x1234_5678);
        assertThat(Arrays.copyOf(Files.readAllBytes(folder.resolve("resource0")), 0x18))
                .startsWith(new byte[MappedRegisters.CONFIGURATION])
                .endsWith(0x78, 0x56, 0x34, 0x12);
        assertThat(Files.readString(folder.resolve("enable"))).isEqualTo("1");
        assertThat(Files.readAllBytes(folder.resolve("config")))
                .as("memory, bus master, no pin interrupt, and the bits that were set before")
                .containsExactly(0, 0, 0, 0, 7, 0x84, 0, 0);

        controller.close();
        controller.close();

        assertThat(Files.readAllBytes(folder.resolve("config"))[4])
                .as("DMA of other programs continues")
                .isEqualTo((byte) 7);
        assertThatIllegalStateException().isThrownBy(() -> controller.allocate(4096));
        assertThatIllegalStateException()
                .isThrownBy(() -> controller.registers().read(MappedRegisters.STATUS));
    }

    @Test
    void shouldEndDma() throws Exception {
        var function = find();
        function.enable();
        function.disableDma();
        assertThat(Files.readAllBytes(folder.resolve("config")))
                .containsExactly(0, 0, 0, 0, 3, 0x84, 0, 0);
    }

    @Test
    void shouldNameFilesThatCannotBeAccessed() throws Exception {
        Files.delete(folder.resolve("resource0"));
        var function = find();
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() -> PhysicalController.open(function))
                .withMessageContaining("Cannot access " + folder.resolve("resource0"));
    }
}
