package org.jrdma.nvme;

import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.pcie.ControllerAccess;

/** Opens drives. */
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
        var controller = new Controller(access, options);
        try {
            controller.start();
            return new NvmeDrive(controller);
        } catch (Throwable e) {
            controller.stop();
            throw e;
        }
    }
}
