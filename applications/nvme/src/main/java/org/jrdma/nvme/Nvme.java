package org.jrdma.nvme;

import java.net.SocketAddress;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.pcie.ControllerAccess;

/**
 * Opens drives whose controllers are accessible over PCIe. {@link NvmeFabrics} opens drives on a
 * network.
 */
public final class Nvme {

    private Nvme() {}

    /**
     * Resets and starts a controller, and reads the description of its namespaces. Queues that
     * another program has created on this controller are lost. The caller closes {@code access}
     * after the drive.
     *
     * <p>Blocks for up to the timeout that the controller states for each of its resets, and for
     * {@link NvmeOptions#adminTimeout()} for each admin command.
     *
     * @throws FabricException if the controller fails, is unreachable, does not respond in time, or
     *     needs a feature that this driver does not support
     */
    public static NvmeDrive open(ControllerAccess access, NvmeOptions options)
            throws FabricException {
        return start(new AdministeredController(access, options));
    }

    /**
     * Joins a controller that a {@link SharedControllerManager}, normally in another process,
     * shares. The drive has its own queues in memory of {@code access}, and transfers data without
     * the manager. The caller closes {@code access} after the drive.
     *
     * <p>When the manager is closed, the queues of this drive are deleted, and their pending
     * commands time out. If the process of the manager is killed, the queues of this drive continue
     * until another program resets the controller, but no queue can be created or deleted.
     *
     * @param access this program's own access to the controller of the manager
     * @param manager the address of the manager
     * @throws FabricException if the manager or the controller does not respond in time, or fails
     * @throws IllegalArgumentException if the options have a host identifier. The manager sets the
     *     identifier of a controller, because reservations treat all its clients as one host
     */
    public static NvmeDrive join(
            ControllerAccess access, SocketAddress manager, NvmeOptions options)
            throws FabricException {
        if (!options.hostIdentifier().isNone()) {
            throw new IllegalArgumentException(
                    "Cannot set the host identifier of a shared controller. Set it in the program of the manager: reservations treat all clients of a controller as one host.");
        }
        return start(new SharedController(access, manager, options));
    }

    static NvmeDrive start(AbstractController controller) throws FabricException {
        try {
            controller.start();
            return new NvmeDrive(controller);
        } catch (Throwable e) {
            controller.stop();
            throw e;
        }
    }
}
