package org.jrdma.nvme;

import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Configuration;
import org.jrdma.nvme.model.IdentifyController;
import org.jrdma.nvme.model.SmartLog;

/**
 * A drive that this program controls, shares with the program of a {@link SharedControllerManager},
 * or reaches over a network. Formatting and other admin commands that destroy data are not
 * available.
 *
 * <p>Owns its {@link NvmeQueue}s and its {@link DmaMemory}: {@link #close()} closes them. Safe for
 * use by multiple threads.
 */
public final class NvmeDrive implements AutoCloseable {

    /** The number of addresses in a list, and so the limit of a transfer in pages. */
    private static final int MAX_TRANSFER_PAGES = Configuration.PAGE_BYTES / Long.BYTES;

    private static final int MAX_TRANSFER_SHIFT = Integer.numberOfTrailingZeros(MAX_TRANSFER_PAGES);

    private final AbstractController controller;
    private final Lifetime lifetime;
    private final IdentifyController identity;

    /** Takes ownership of a controller that was started. */
    @SuppressWarnings("this-escape") // Leaks registers this object but does not use it
    NvmeDrive(AbstractController controller) throws FabricException {
        this.controller = controller;
        this.identity = controller.read(AdminPageKind.CONTROLLER, 0, IdentifyController::decode);
        this.lifetime = new Lifetime("NVMe drive on " + controller, List.of(), controller::stop);
        Leaks.watch(this, lifetime.toString(), lifetime);
    }

    AbstractController controller() {
        return controller;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    /** Returns the description of the controller, which was read when the drive was opened. */
    public IdentifyController identity() {
        return identity;
    }

    /**
     * Returns the namespaces in the order of their ids, at most 1,024. Namespaces with metadata, or
     * with blocks that are smaller than 512 bytes or larger than 4,096 bytes, are omitted.
     *
     * <p>A drive on a network reads them again when its controller reports a change, and when the
     * controller was connected again. The result then is another list. Queues accept the earlier
     * descriptions of a namespace; commands for a namespace that was removed fail. A drive on PCIe
     * reads its namespaces when it is opened.
     */
    public List<NvmeNamespace> namespaces() {
        return controller.namespaces();
    }

    /** Returns the largest number of bytes that one command can read or write. */
    public int maxTransferBytes() {
        var shift = identity.maxTransferShift();
        return Configuration.PAGE_BYTES
                << (shift == 0 ? MAX_TRANSFER_SHIFT : Math.min(shift, MAX_TRANSFER_SHIFT));
    }

    /**
     * Reads the health of the drive.
     *
     * @throws FabricException if the controller fails or does not respond in time
     * @throws IllegalStateException if the drive is closed
     */
    public SmartLog smartLog() throws FabricException {
        try (var _ = lifetime.held()) {
            return controller.read(AdminPageKind.SMART, Command.ALL_NAMESPACES, SmartLog::decode);
        }
    }

    /**
     * Allocates zeroed memory for data.
     *
     * @param bytes the size, which is rounded up to pages of 4,096 bytes
     * @throws FabricException if the memory cannot be allocated
     * @throws IllegalStateException if the drive is closed
     */
    public DmaMemory newMemory(long bytes) throws FabricException {
        if (bytes < 1) {
            throw new IllegalArgumentException(
                    "The size of memory is %d bytes. It must be positive.".formatted(bytes));
        }
        try (var _ = lifetime.held()) {
            return controller.newMemory(bytes);
        }
    }

    /**
     * Creates an I/O queue for one thread.
     *
     * @param depth the number of commands that can be pending, at least 1
     * @throws FabricException if the controller has no queue left, fails or does not respond in
     *     time
     * @throws IllegalArgumentException if the controller does not support the depth
     * @throws IllegalStateException if the drive is closed
     */
    public NvmeQueue newQueue(int depth) throws FabricException {
        try (var _ = lifetime.held()) {
            return controller.newQueue(depth, lifetime, maxTransferBytes());
        }
    }

    /**
     * Creates an I/O queue with asynchronous operations for several threads, and starts its thread.
     * The parameters and exceptions are those of {@link #newQueue}.
     */
    public AsyncNvmeQueue newAsyncQueue(int depth) throws FabricException {
        return new AsyncNvmeQueue(newQueue(depth), controller.options()).start();
    }

    /**
     * Returns the reservations of a namespace.
     *
     * @throws NvmeException if the controller does not support reservations
     * @throws IllegalStateException if this program opened the controller without the option {@link
     *     NvmeOptions#hostIdentifier()}
     */
    public NvmeReservations reservations(NvmeNamespace namespace) throws NvmeException {
        if ((identity.nvmCapabilities() & IdentifyController.RESERVATIONS) == 0) {
            throw new NvmeException(
                    "%s does not support reservations (ONCS 0x%x)"
                            .formatted(controller, identity.nvmCapabilities()));
        }
        controller.requireHostIdentifier();
        return new NvmeReservations(this, namespace);
    }

    /**
     * Shuts the controller down unless it is shared, and closes all queues and all memory. Waits
     * for admin commands of other threads, and for the controller, for up to their timeouts.
     * Failures are logged.
     */
    @Override
    public void close() {
        lifetime.close();
    }

    /** Returns the name of the drive for messages. */
    @Override
    public String toString() {
        return lifetime.toString();
    }
}
