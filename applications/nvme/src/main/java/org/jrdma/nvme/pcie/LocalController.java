package org.jrdma.nvme.pcie;

import java.nio.file.Path;
import org.jrdma.ffi.FabricException;

/**
 * Access to a controller that is a PCI function of this machine. The kernel's driver must not use
 * the function.
 *
 * <p>If the function belongs to the driver {@code vfio-pci}, the controller can access only the
 * memory that was allocated for it, and only this process can access the controller. The process
 * needs no privileges except for the file of the IOMMU group and for locked memory.
 *
 * <p>If the function belongs to no driver, the registers are those in sysfs, and the memory
 * consists of huge pages, whose physical addresses the controller uses. This access needs {@code
 * CAP_SYS_ADMIN}, and a machine without an IOMMU that translates addresses. Several processes can
 * open the controller, but only one of them can {@linkplain org.jrdma.nvme.Nvme#open open a drive};
 * the others {@linkplain org.jrdma.nvme.Nvme#join join} it. A process that is killed leaves a
 * controller that may still write to memory which belongs to other programs by then. Use VFIO for
 * anything but tests.
 */
public final class LocalController {

    private LocalController() {}

    /**
     * Opens a controller.
     *
     * @param address the address of the function, such as {@code 0000:01:00.0}
     * @throws FabricException if the function cannot be used. The message contains the commands
     *     that prepare it
     */
    public static ControllerAccess open(String address) throws FabricException {
        var function = PciFunction.of(Path.of("/sys"), address);
        return function.driver().filter(PciFunction.VFIO::equals).isPresent()
                ? VfioController.open(function)
                : PhysicalController.open(function);
    }
}
