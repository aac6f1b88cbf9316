package org.jrdma.cli.drive;

import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.Nvme;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.pcie.BorrowedController;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.BorrowedDevice;
import org.jrdma.sisci.smartio.SmartIo;

/** A drive whose controller another node lends. Closing it returns the controller. */
public final class BorrowedDrive implements AutoCloseable {

    private final Node node;
    private final BorrowedDevice device;
    private final BorrowedController access;
    private final NvmeDrive drive;

    private BorrowedDrive(
            Node node, BorrowedDevice device, BorrowedController access, NvmeDrive drive) {
        this.node = node;
        this.device = device;
        this.access = access;
        this.drive = drive;
    }

    /**
     * Borrows a controller exclusively, resets it, and starts it.
     *
     * @param sisci the library with the node that borrows
     * @param fabricDeviceId the id of the controller in the fabric
     * @throws FabricException if there is no such controller, another node has borrowed it, or it
     *     does not start
     */
    public static BorrowedDrive open(Sisci sisci, long fabricDeviceId, NvmeOptions options)
            throws FabricException {
        var node = sisci.open();
        try {
            var device = SmartIo.of(node).borrow(fabricDeviceId, BorrowMode.EXCLUSIVE);
            var access = BorrowedController.of(node, device);
            return new BorrowedDrive(node, device, access, Nvme.open(access, options));
        } catch (Throwable e) {
            node.close(); // also closes all objects of the node
            throw e;
        }
    }

    /** Returns the driver. */
    public NvmeDrive drive() {
        return drive;
    }

    @Override
    public void close() {
        drive.close();
        access.close();
        device.close();
        node.close();
    }

    @Override
    public String toString() {
        return drive.toString();
    }
}
