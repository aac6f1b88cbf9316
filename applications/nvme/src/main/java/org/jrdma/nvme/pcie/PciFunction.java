package org.jrdma.nvme.pcie;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jrdma.ffi.FabricException;

/**
 * A PCI function of this machine, as sysfs describes it.
 *
 * @param sysfs the mount point of sysfs
 * @param address the address with domain, bus, device and function
 */
record PciFunction(Path sysfs, String address) {

    /** The name of the driver that gives programs access through an IOMMU. */
    static final String VFIO = "vfio-pci";

    /** The offset of the command register in the configuration space. */
    static final long COMMAND = 4;

    private static final Pattern ADDRESS =
            Pattern.compile("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
    private static final String NVME_CLASS = "0x010802";
    private static final String IDENTITY = "identity";

    private static final int MEMORY_SPACE = 1 << 1;
    private static final int BUS_MASTER = 1 << 2;
    private static final int NO_PIN_INTERRUPT = 1 << 10;

    /** The bits of the command register for registers and DMA, without the interrupt pin. */
    static final int ENABLED = MEMORY_SPACE | BUS_MASTER | NO_PIN_INTERRUPT;

    /**
     * Finds a function.
     *
     * @throws FabricException if there is no such function, or if it is not an NVMe controller
     */
    static PciFunction of(Path sysfs, String address) throws FabricException {
        if (!ADDRESS.matcher(address).matches()) {
            throw new FabricException(
                    "%s is not the address of a PCI function. It has a domain, such as 0000:01:00.0. List the controllers with: lspci -D -d ::0108"
                            .formatted(address));
        }
        var function = new PciFunction(sysfs, address);
        if (!Files.isDirectory(function.folder())) {
            throw new FabricException(
                    "This machine has no PCI function %s. List the controllers with: lspci -D -d ::0108"
                            .formatted(address));
        }
        var classCode = function.read(function.folder().resolve("class"));
        if (!classCode.equals(NVME_CLASS)) {
            throw new FabricException(
                    "%s is not an NVMe controller: its class is %s instead of %s"
                            .formatted(function, classCode, NVME_CLASS));
        }
        return function;
    }

    private Path folder() {
        return sysfs.resolve("bus/pci/devices").resolve(address);
    }

    /** Returns the file of BAR 0. */
    Path bar() {
        return folder().resolve("resource0");
    }

    /** Returns the name of the driver to which the function belongs. */
    Optional<String> driver() {
        return link("driver");
    }

    /** Returns the number of the IOMMU group of the function. */
    Optional<String> iommuGroup() {
        return link("iommu_group");
    }

    private Optional<String> link(String name) {
        try {
            return Optional.of(
                    Files.readSymbolicLink(folder().resolve(name)).getFileName().toString());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /**
     * Checks that the controller can access memory by its physical address.
     *
     * @throws FabricException if a driver uses the function, or an IOMMU translates its addresses
     */
    void requirePhysicalAccess() throws FabricException {
        var driver = driver();
        if (driver.isPresent()) {
            throw new FabricException(
                    "%s belongs to the driver %s. Unmount its file systems, and release it with: echo %s > /sys/bus/pci/drivers/%s/unbind"
                            .formatted(this, driver.get(), address, driver.get()));
        }
        var group = iommuGroup();
        if (group.isPresent() && !isIdentity(group.get())) {
            throw new FabricException(
                    "%s cannot access physical addresses, because an IOMMU translates them. Use VFIO: modprobe vfio-pci; echo vfio-pci > %s/driver_override; echo %s > /sys/bus/pci/drivers_probe"
                            .formatted(this, folder(), address));
        }
    }

    private boolean isIdentity(String group) throws FabricException {
        return read(sysfs.resolve("kernel/iommu_groups").resolve(group).resolve("type"))
                .equals(IDENTITY);
    }

    private String read(Path file) throws FabricException {
        try {
            return Files.readString(file).trim();
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    /** Enables the registers and DMA, and disables the interrupt pin. */
    void enable() throws FabricException {
        var file = folder().resolve("enable");
        try {
            var _ = Files.writeString(file, "1");
        } catch (IOException e) {
            throw failure(file, e);
        }
        changeCommand(ENABLED, 0);
    }

    /** Ends DMA of the function, for all programs. */
    void disableDma() throws FabricException {
        changeCommand(0, BUS_MASTER);
    }

    private void changeCommand(int set, int clear) throws FabricException {
        var file = folder().resolve("config");
        try (var channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            var register = ByteBuffer.allocate(Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            var _ = channel.read(register, COMMAND);
            register.putShort(0, (short) ((register.getShort(0) & ~clear) | set)).rewind();
            var _ = channel.write(register, COMMAND);
        } catch (IOException e) {
            throw failure(file, e);
        }
    }

    /** Returns the exception for a file of sysfs that cannot be accessed. */
    FabricException failure(Path file, IOException cause) {
        var remedy =
                cause instanceof AccessDeniedException
                        ? ": permission denied. Run the program as root."
                        : ": " + cause;
        return new FabricException(
                "Cannot access %s of %s%s".formatted(file, this, remedy), 0, cause);
    }

    @Override
    public String toString() {
        return "PCI function " + address;
    }
}
